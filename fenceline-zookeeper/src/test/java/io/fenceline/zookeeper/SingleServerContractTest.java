package io.fenceline.zookeeper;

import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.contract.StoreHarness;
import java.time.Duration;

/** The contract on one server. */
class SingleServerContractTest extends LockContract {

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(
        Servers.store(Servers.single().address()), Duration.ofMillis(1_500));
  }
}
