package io.fenceline.testkit.contract;

import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.harness.StoreHarness;
import java.util.Optional;

/** The memory store keeps the contract; no test of it waits for real time. */
class MemoryContractTest extends LockContract {

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onManualTime(time -> MemorySpace.create(time::wallMillis).factory());
  }

  @Override
  protected Optional<Proxied> proxied() {
    return Optional.empty(); // It is in this process.
  }
}
