package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.List;

/**
 * That a request which comes late, after a newer one of the same owner, does not make its lease end
 * sooner than its holder believes; the same for each database.
 */
final class LateRequests {
  private static final Duration SHORT = Duration.ofSeconds(20);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration STILL_LONG = Duration.ofMinutes(5);

  private LateRequests() {}

  static void check(String url) {
    try (SqlLockStore store = Heard.open(url, new ManualTime())) {
      inTheRow(store);
      besideAnother(store);
    }
  }

  private static void inTheRow(SqlLockStore store) {
    Heard holder = new Heard(store, "late-row", Mode.EXCLUSIVE, SHORT);
    renew(store, holder.grant(), LONG);

    renew(store, holder.grant(), SHORT);
    assertRunsLong(store, "late-row", 0);

    repeat(store, holder);
    assertRunsLong(store, "late-row", 0);

    // Someone else reads it, and does not disbelieve it because of a term that is too short.
    new Heard(store, "late-row", Mode.EXCLUSIVE, SHORT);
    assertRunsLong(store, "late-row", 0);

    repeat(store, holder);
    assertRunsLong(store, "late-row", 0);
  }

  private static void besideAnother(SqlLockStore store) {
    new Heard(store, "late-claim", Mode.SHARED, LONG).grant();
    Heard holder = new Heard(store, "late-claim", Mode.SHARED, SHORT);
    renew(store, holder.grant(), LONG);

    renew(store, holder.grant(), SHORT);
    assertRunsLong(store, "late-claim", 1);

    repeat(store, holder);
    assertRunsLong(store, "late-claim", 1);
  }

  private static void renew(SqlLockStore store, HeldGrant grant, Duration lease) {
    Renewal answer = store.renew(List.of(new RenewRequest(grant, lease))).get(0).join();
    assertThat(answer).isInstanceOf(Renewal.Renewed.class);
  }

  private static void repeat(SqlLockStore store, Heard heard) {
    long number = heard.grant().number();
    heard.granted.clear();
    store.claim(heard.request, heard);
    assertThat(heard.grant().number()).isEqualTo(number);
  }

  private static void assertRunsLong(SqlLockStore store, String name, int holder) {
    NameState state = store.inspect(name).join();
    assertThat(state.holders().get(holder).remaining()).isGreaterThan(STILL_LONG);
  }
}
