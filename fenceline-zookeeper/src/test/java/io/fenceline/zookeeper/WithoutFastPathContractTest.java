package io.fenceline.zookeeper;

import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contract on the path that decides: every claim lists the queue. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class WithoutFastPathContractTest extends LockContract {
  @Override
  protected StoreHarness harness() {
    String uri = Servers.uri(Servers.single().address(), Servers.SESSION);
    return StoreHarness.onRealTime(
        ZooKeeperStores.at(uri).root("/without").withoutFastPath(), Duration.ofMillis(1_500));
  }
}
