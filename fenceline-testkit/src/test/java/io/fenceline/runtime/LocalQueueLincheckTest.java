package io.fenceline.runtime;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * The queue of one name, entered, left and passed on by threads that cross each other: in the end
 * nobody was forgotten, and nothing is left.
 */
@SuppressWarnings("MustBeClosedChecker") // What is left open goes with the instance.
public class LocalQueueLincheckTest {
  private static final int CALLERS = 2;

  private final MemorySpace space = MemorySpace.create(() -> 0);
  private final Fenceline client;
  private final AtomicReferenceArray<CompletableFuture<Hold>> asked =
      new AtomicReferenceArray<>(CALLERS);

  /** For Lincheck: a fresh queue for each run. */
  public LocalQueueLincheckTest() {
    client = Interleavings.client(new ManualTime(), space.factory());
  }

  @Operation
  public void askFirst() {
    ask(0);
  }

  @Operation
  public void askSecond() {
    ask(1);
  }

  @Operation
  public void endFirst() {
    end(0);
  }

  @Operation
  public void endSecond() {
    end(1);
  }

  private void ask(int caller) {
    if (asked.get(caller) == null) {
      CompletableFuture<Hold> future = client.lock("ledger").acquireAsync(Duration.ofMinutes(1));
      if (!asked.compareAndSet(caller, null, future)) {
        end(future);
      }
    }
  }

  private void end(int caller) {
    CompletableFuture<Hold> future = asked.getAndSet(caller, null);
    if (future != null) {
      end(future);
    }
  }

  /** Gives up, or gives back what came meanwhile. */
  private static void end(CompletableFuture<Hold> future) {
    if (!future.cancel(false)) {
      Hold hold = future.join();
      if (hold.release() != ReleaseOutcome.RELEASED) {
        throw new IllegalStateException("a hold was lost: " + hold);
      }
    }
  }

  /** Whoever asked and was not ended has the lock, or waits for someone who has it. */
  @Validate
  public void nobodyIsForgotten() {
    int waiting = 0;
    int holding = 0;
    for (int i = 0; i < CALLERS; i++) {
      CompletableFuture<Hold> future = asked.get(i);
      if (future != null) {
        waiting += future.isDone() ? 0 : 1;
        holding += future.isDone() ? 1 : 0;
      }
    }
    if (holding > 1 || (waiting > 0 && holding == 0)) {
      throw new IllegalStateException(waiting + " wait, " + holding + " hold");
    }
    for (int i = 0; i < CALLERS; i++) {
      end(i);
    }
    if (Insight.leftovers(client) != 0 || space.size() != 0) {
      throw new IllegalStateException(
          Insight.leftovers(client) + " left here, " + space.size() + " at the store");
    }
  }

  @Test
  void everyOrderOfCalls_servesEveryCallerAndLeavesNothing() {
    Interleavings.check(LocalQueueLincheckTest.class);
  }
}
