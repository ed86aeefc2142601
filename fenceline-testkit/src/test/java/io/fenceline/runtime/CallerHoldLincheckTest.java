package io.fenceline.runtime;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LossReason;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.ManualTime;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * A hold with two handles, released, lost, entered again and asked by threads that cross each
 * other: whatever they see must be explained by some order of whole calls.
 */
@SuppressWarnings("MustBeClosedChecker") // What is left open goes with the instance.
public class CallerHoldLincheckTest {
  private final Fenceline client;
  private final LockHandle first;
  private final LockHandle second;
  private volatile int told;

  /** For Lincheck: a fresh hold for each run. */
  public CallerHoldLincheckTest() {
    client = Interleavings.client(new ManualTime(), MemorySpace.create(() -> 0).factory());
    Hold hold = client.lock("ledger").tryAcquire().orElseThrow();
    first = (LockHandle) hold;
    second = (LockHandle) hold.reenter();
    first.onLost(lost -> told++);
  }

  @Operation
  public ReleaseOutcome releaseFirst() {
    return first.release();
  }

  @Operation
  public ReleaseOutcome releaseSecond() {
    return second.release();
  }

  @Operation
  public void lose() {
    first.callerHold.lifecycle.lose(LossReason.GONE);
  }

  @Operation
  public boolean isFirstValid() {
    return first.isValid();
  }

  @Operation
  public String reenter() {
    try {
      Hold again = first.reenter();
      return again.token() == first.token() ? "entered" : "another token";
    } catch (LockLostException e) {
      return "lost";
    } catch (IllegalStateException e) {
      return "released";
    }
  }

  /** A loss is told once, and only to those who have not released before. */
  @Validate
  public void aLossIsToldAtMostOnce() {
    boolean released = !first.isOpen() && first.release() == ReleaseOutcome.RELEASED;
    if (told > 1 || (released && told > 0)) {
      throw new IllegalStateException("told " + told + " times, released=" + released);
    }
  }

  @Test
  void everyOrderOfCalls_isExplainedByOneAfterAnother() {
    Interleavings.check(CallerHoldLincheckTest.class);
  }
}
