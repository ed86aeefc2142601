package io.fenceline.runtime;

import io.fenceline.Fenceline;
import io.fenceline.ReleaseOutcome;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * A renewal that falls due while its hold is released, lost or entered again: afterwards a hold
 * that ended is in no agenda, and one that did not is in it.
 */
@SuppressWarnings("MustBeClosedChecker") // What is left open goes with the instance.
public class RenewerLincheckTest {
  /** However often a run lets it pass, a lease of 30 seconds is not over: nothing may be lost. */
  private static final Duration A_WHILE = Duration.ofSeconds(4);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final Fenceline client;
  private final LockHandle hold;
  private volatile int told;

  /** For Lincheck: a fresh hold for each run. */
  public RenewerLincheckTest() {
    client = Interleavings.client(time, space.factory());
    hold = (LockHandle) client.lock("ledger").tryAcquire().orElseThrow();
    hold.onLost(lost -> told++);
  }

  /** Time passes, and whatever is due then is done. */
  @Operation
  public void pass() {
    time.advance(A_WHILE);
  }

  @Operation
  public ReleaseOutcome release() {
    return hold.release();
  }

  @Operation
  public boolean isValid() {
    return hold.isValid();
  }

  /** What ended is neither renewed nor lost. */
  @Validate
  public void onlyWhatIsHeldIsRenewed() {
    int kept = hold.callerHold.lifecycle.engine().renewer.clientGrants().size();
    boolean held = hold.isValid();
    if (kept != (held ? 1 : 0) || told > 0 || space.size() != kept) {
      throw new IllegalStateException(
          "held=%s, kept=%d, told=%d, names=%d".formatted(held, kept, told, space.size()));
    }
  }

  @Test
  void everyOrderOfCalls_renewsWhatIsHeldAndNothingElse() {
    Interleavings.check(RenewerLincheckTest.class);
  }
}
