package io.fenceline.jdbc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.Heard;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
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
public final class LateRequests {
  private static final Duration SHORT = Duration.ofSeconds(20);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration STILL_LONG = Duration.ofMinutes(5);

  private LateRequests() {}

  public static void check(String url) {
    try (LockStore store = Heard.open(url, new ManualTime())) {
      Heard inRow = new Heard(store, "late-row", Mode.EXCLUSIVE, SHORT);
      assertNothingIsCut(store, inRow, 0);
      // Someone else reads it, and does not disbelieve it because of a term that is too short.
      new Heard(store, "late-row", Mode.EXCLUSIVE, SHORT);
      assertRunsLong(store, inRow, 0);
      assertNothingIsCut(store, inRow, 0);

      assertNotRevived(store, new Heard(store, "late-revived", Mode.EXCLUSIVE, LONG));
      new Heard(store, "late-revived-claim", Mode.SHARED, LONG).grant();
      assertNotRevived(store, new Heard(store, "late-revived-claim", Mode.SHARED, LONG));

      new Heard(store, "late-claim", Mode.SHARED, LONG).grant();
      Heard beside = new Heard(store, "late-claim", Mode.SHARED, SHORT);
      assertNothingIsCut(store, beside, 1);
    }
  }

  /**
   * A claim was sent twice, and the second copy comes when the grant of the first was taken away.
   */
  private static void assertNotRevived(LockStore store, Heard holder) {
    HeldGrant lost = holder.grant();
    assertThat(store.forceRelease(holder.request.name(), lost.number()).join()).isTrue();
    holder.granted.clear();
    store.claim(holder.request, holder);
    HeldGrant later = holder.grant();
    assertThat(later.number()).isGreaterThan(lost.number());

    // Others may have had the name in between: who believes in the first grant has to hear of it.
    assertThat(store.renew(List.of(new RenewRequest(lost, LONG))).get(0).join())
        .isEqualTo(Renewal.GONE);
    renew(store, later, LONG);
  }

  private static void assertNothingIsCut(LockStore store, Heard holder, int place) {
    renew(store, holder.grant(), LONG);

    renew(store, holder.grant(), SHORT);
    assertRunsLong(store, holder, place);

    repeat(store, holder);
    assertRunsLong(store, holder, place);
  }

  private static void renew(LockStore store, HeldGrant grant, Duration lease) {
    Renewal answer = store.renew(List.of(new RenewRequest(grant, lease))).get(0).join();
    assertThat(answer).isInstanceOf(Renewal.Renewed.class);
  }

  private static void repeat(LockStore store, Heard heard) {
    long number = heard.grant().number();
    heard.granted.clear();
    store.claim(heard.request, heard);
    assertThat(heard.grant().number()).isEqualTo(number);
  }

  private static void assertRunsLong(LockStore store, Heard holder, int place) {
    NameState state = store.inspect(holder.request.name()).join();
    assertThat(state.holders().get(place).remaining()).isGreaterThan(STILL_LONG);
  }
}
