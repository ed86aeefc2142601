package io.fenceline.jdbc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.Heard;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** That the first of a queue is found by its name alone; the same for each database. */
public final class Turns {
  private static final Logger LOG = LoggerFactory.getLogger(Turns.class);
  private static final Duration BOUND = Duration.ofSeconds(60);

  private Turns() {}

  /** Those who wait are forgotten after this long, unless they are heard of. */
  private static final Duration PATIENCE = Duration.ofSeconds(6);

  public static void check(String url) {
    for (int attempt = 1; ; attempt++) {
      long began = System.nanoTime();
      try {
        checkOnce(url, "turn-" + attempt + "-");
        return;
      } catch (AssertionError e) {
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        if (attempt == 3 || took.compareTo(PATIENCE.dividedBy(2)) < 0) {
          throw e;
        }
        // A statement was kept waiting by those of other tests until the queue had forgotten
        // someone.
        LOG.warn("The look for turns starts again: it took {}", took);
      }
    }
  }

  private static void checkOnce(String url, String prefix) {
    ManualTime time = new ManualTime(); // No timer fires, so the room itself never looks.
    try (LockStore store = Heard.open(url, time)) {
      List<Owner> waiting = new ArrayList<>();
      HeldGrant ending = new Heard(store, prefix + "ending", Mode.EXCLUSIVE, BOUND).grant();
      // The first who waits is not heard of again: the next one has its turn.
      Heard silent = new Heard(store, prefix + "ending", Mode.EXCLUSIVE, Duration.ofMillis(500));
      queue(store, prefix + "ending", waiting);
      new Heard(store, prefix + "held", Mode.EXCLUSIVE, BOUND).grant();
      queue(store, prefix + "held", waiting);
      // Only the holder in the name's row leaves, not the one beside it.
      HeldGrant inRow = new Heard(store, prefix + "shared", Mode.SHARED, BOUND).grant();
      new Heard(store, prefix + "shared", Mode.SHARED, BOUND).grant();
      queue(store, prefix + "shared", waiting);
      store.release(new ReleaseRequest(inRow, Duration.ZERO)).join();
      List<String> names =
          List.of(prefix + "held", prefix + "ending", prefix + "shared", prefix + "nobody");
      Heard.beat(store, waiting, names);
      assertThat(Heard.inTurn(store, names)).isEmpty();

      // It ends by itself: whoever released it would tell the next one.
      store.release(new ReleaseRequest(ending, Duration.ofMillis(300))).join();
      time.jumpWall(Duration.ofSeconds(1)); // A file goes by the clock of its clients.
      Owner next = waiting.get(0);
      Set<Owner> seen = new HashSet<>();
      Eventually.until(
          BOUND,
          "the name to open, and the silent one to be forgotten",
          () -> {
            Heard.beat(store, waiting, names);
            return seen.addAll(Heard.inTurn(store, names)) && seen.contains(next);
          });
      assertThat(seen).isSubsetOf(silent.request.owner(), next);
      // A look that a busy server does not answer finds nobody.
      List<Owner> found =
          Eventually.until(
              BOUND,
              "someone to have the turn",
              () -> {
                Heard.beat(store, waiting, names);
                return Heard.inTurn(store, names);
              },
              owners -> !owners.isEmpty());
      assertThat(found).containsExactly(next);
      assertThat(Heard.inTurn(store, List.of(prefix + "held", prefix + "shared"))).isEmpty();
    }
  }

  /** Three who wait for a name. */
  private static void queue(LockStore store, String name, List<Owner> waiting) {
    for (int i = 0; i < 3; i++) {
      Heard next = new Heard(store, name, Mode.EXCLUSIVE, BOUND);
      assertThat(next.waiting).isEqualTo(1);
      waiting.add(next.request.owner());
    }
  }
}
