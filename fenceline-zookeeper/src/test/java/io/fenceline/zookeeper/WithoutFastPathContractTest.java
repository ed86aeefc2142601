package io.fenceline.zookeeper;

import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import io.fenceline.zookeeper.claim.ClaimTuning;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The contract without shortcuts: every claim lists the queue, and every waiter with more than one
 * ahead waits for a hand-over, as in a long queue.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class WithoutFastPathContractTest extends LockContract {
  private static StoreFactory store(String server) {
    return ZooKeeperStores.at(Servers.uri(server, Servers.SESSION))
        .root("/without")
        .tuned(new ClaimTuning(false, 0));
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(store(Servers.single().address()), Duration.ofMillis(1_500));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxy proxy =
        FaultProxy.to(Servers.single().host(), Servers.single().port(), Protocol.ZOOKEEPER);
    return Optional.of(new Proxied(store(proxy.address()), proxy));
  }
}
