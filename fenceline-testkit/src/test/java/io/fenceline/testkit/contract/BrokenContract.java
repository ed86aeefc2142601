package io.fenceline.testkit.contract;

import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;

/** The contract on a store that breaks it; run by {@link BrokenStoresTest} only. */
class BrokenContract extends LockContract {
  /** What is broken now; the suite is run for one after another. */
  static volatile Breakage current = Breakage.NOTHING;

  private static final Duration AMPLE = Duration.ofSeconds(20);

  /** Much of what is broken takes for ever. */
  private static final Duration SHORT = Duration.ofSeconds(2);

  @Override
  protected StoreHarness harness() {
    Breakage breakage = current;
    return StoreHarness.onManualTime(
        time -> MemorySpace.over(breakage.table.apply(time::wallMillis)).factory(),
        breakage == Breakage.NOTHING ? AMPLE : SHORT);
  }

  @Override
  protected Optional<Proxied> proxied() {
    return Optional.empty(); // It is in this process.
  }
}
