package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.StoreContext;
import io.fenceline.testkit.ManualTime;
import io.fenceline.testkit.server.Eventually;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** That the first of a queue is found by its name alone; the same for each database. */
final class Turns {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final SecureRandom RANDOM = new SecureRandom();

  private Turns() {}

  static void check(String url) {
    ManualTime time = new ManualTime(); // No timer fires, so the room itself never looks.
    StoreContext context =
        new StoreContext(new ClientInfo("test", "host", 1), time, RANDOM, BOUND, BOUND);
    try (SqlLockStore store = (SqlLockStore) JdbcStore.url(url).open(context)) {
      List<Owner> waiting = new ArrayList<>();
      HeldGrant ending = line(store, "turn-ending", Mode.EXCLUSIVE, waiting);
      line(store, "turn-held", Mode.EXCLUSIVE, waiting);
      line(store, "turn-shared", Mode.SHARED, waiting);
      List<String> names = List.of("turn-held", "turn-ending", "turn-shared", "turn-nobody");
      store.beat(waiting);
      assertThat(store.inTurn(names)).isEmpty();

      // It ends by itself: whoever released it would tell the next one.
      store.renew(List.of(new RenewRequest(ending, Duration.ofMillis(300)))).get(0).join();
      time.jumpWall(Duration.ofSeconds(1)); // A file goes by the clock of its clients.
      Eventually.until(
          BOUND,
          "the short lease to end",
          () -> {
            store.beat(waiting);
            List<Owner> found = store.inTurn(names);
            assertThat(found).isSubsetOf(waiting.get(0));
            return !found.isEmpty();
          });
      store.beat(waiting);
      assertThat(store.inTurn(names)).containsExactly(waiting.get(0));
      assertThat(store.inTurn(List.of("turn-held", "turn-shared"))).isEmpty();
    }
  }

  /** One who holds the name, and three who wait for it. */
  private static HeldGrant line(SqlLockStore store, String name, Mode mode, List<Owner> waiting) {
    Heard holder = new Heard(store, name, mode);
    assertThat(holder.granted).hasSize(1);
    for (int i = 0; i < 3; i++) {
      Heard next = new Heard(store, name, Mode.EXCLUSIVE);
      assertThat(next.waiting).isEqualTo(1);
      waiting.add(next.request.owner());
    }
    return new HeldGrant(holder.request, holder.granted.get(0).number());
  }

  private static final class Heard implements ClaimHandler {
    final ClaimRequest request;
    final List<Grant> granted = new ArrayList<>();
    int waiting;

    Heard(SqlLockStore store, String name, Mode mode) {
      request = new ClaimRequest(name, Owner.draw(RANDOM), mode, BOUND, Duration.ZERO, true);
      store.claim(request, this);
    }

    @Override
    public void granted(Grant grant) {
      granted.add(grant);
    }

    @Override
    public void waiting(Obstacle obstacle) {
      waiting++;
    }

    @Override
    public void refused(Obstacle obstacle) {
      throw new AssertionError("refused");
    }

    @Override
    public void failed(RuntimeException cause) {
      throw cause;
    }
  }
}
