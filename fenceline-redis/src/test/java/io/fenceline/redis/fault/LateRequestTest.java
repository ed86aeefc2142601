package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.Stores;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.testbed.server.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A request that comes late, after a newer one of the same owner, does not make a lease end sooner
 * than its holder believes: another one would be granted the name before it knows.
 */
class LateRequestTest {
  private static final Duration SHORT = Duration.ofSeconds(20);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration STILL_LONG = Duration.ofMinutes(5);

  private static RedisServer redis;
  private static Stores.Opened opened;
  private static LockStore store;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    opened = Stores.open(redis.uri());
    store = opened.store();
  }

  @AfterAll
  static void stop() {
    store.close();
    redis.close();
  }

  private static RenewRequest hold(String name, Mode mode, Duration lease) {
    return Clients.get(
        Stores.claim(
            opened,
            new ClaimRequest(
                name, Owner.draw(opened.random()), mode, lease, Duration.ZERO, false)));
  }

  private static void renew(RenewRequest held, Duration lease) {
    RenewRequest request = new RenewRequest(held.grant(), lease);
    assertThat(Clients.get(store.renew(List.of(request)).get(0)))
        .isInstanceOf(Renewal.Renewed.class);
  }

  private static void claimAgain(RenewRequest held) {
    RenewRequest again = Clients.get(Stores.claim(opened, held.grant().claim()));
    assertThat(again.grant().number()).isEqualTo(held.grant().number());
  }

  private static void assertRunsLong(String name, int holder) {
    NameState state = Clients.get(store.inspect(name));
    assertThat(state.holders().get(holder).remaining()).isGreaterThan(STILL_LONG);
  }

  @Test
  void ofTheOnlyHolder_endsNothing() {
    RenewRequest held = hold("late-solo", Mode.EXCLUSIVE, SHORT);
    renew(held, LONG);

    renew(held, SHORT);
    assertRunsLong("late-solo", 0);
    claimAgain(held);
    assertRunsLong("late-solo", 0);
    renew(held, SHORT);
    assertRunsLong("late-solo", 0);
  }

  /**
   * A failover has forgotten the grant, but not that its owner once waited: the queue has granted
   * the name to it anew, perhaps after someone else. Its holder has to learn that it lost the
   * first.
   */
  @Test
  void renewalOfAnEarlierGrantOfTheSameOwner_findsItGone() {
    hold("late-number", Mode.SHARED, LONG);
    for (RenewRequest held :
        List.of(
            hold("late-number-solo", Mode.EXCLUSIVE, LONG),
            hold("late-number", Mode.SHARED, LONG))) {
      HeldGrant earlier = new HeldGrant(held.grant().claim(), held.grant().number() - 1);

      assertThat(Clients.get(store.renew(List.of(new RenewRequest(earlier, LONG))).get(0)))
          .isEqualTo(Renewal.GONE);

      renew(held, LONG);
    }
  }

  @Test
  void ofOneOfSeveralHolders_endsNothing() {
    hold("late-table", Mode.SHARED, LONG);
    RenewRequest held = hold("late-table", Mode.SHARED, SHORT);
    renew(held, LONG);

    renew(held, SHORT);
    assertRunsLong("late-table", 1);
    claimAgain(held);
    assertRunsLong("late-table", 1);
    renew(held, SHORT);
    assertRunsLong("late-table", 1);
  }
}
