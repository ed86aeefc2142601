package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.testkit.ManualTime;
import io.fenceline.testkit.server.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** That the first of a queue is found by its name alone; the same for each database. */
final class Turns {
  private static final Duration BOUND = Duration.ofSeconds(60);

  private Turns() {}

  static void check(String url) {
    ManualTime time = new ManualTime(); // No timer fires, so the room itself never looks.
    try (SqlLockStore store = Heard.open(url, time)) {
      List<Owner> waiting = new ArrayList<>();
      HeldGrant ending = line(store, "turn-ending", Mode.EXCLUSIVE, waiting);
      line(store, "turn-held", Mode.EXCLUSIVE, waiting);
      line(store, "turn-shared", Mode.SHARED, waiting);
      List<String> names = List.of("turn-held", "turn-ending", "turn-shared", "turn-nobody");
      store.beat(waiting);
      assertThat(store.inTurn(names)).isEmpty();

      // It ends by itself: whoever released it would tell the next one.
      store.release(new ReleaseRequest(ending, Duration.ofMillis(300))).join();
      time.jumpWall(Duration.ofSeconds(1)); // A file goes by the clock of its clients.
      Eventually.until(
          BOUND,
          "the name to open",
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
    HeldGrant holder = new Heard(store, name, mode, BOUND).grant();
    for (int i = 0; i < 3; i++) {
      Heard next = new Heard(store, name, Mode.EXCLUSIVE, BOUND);
      assertThat(next.waiting).isEqualTo(1);
      waiting.add(next.request.owner());
    }
    return holder;
  }
}
