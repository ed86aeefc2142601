package io.fenceline.zookeeper;

import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The contract on one server, with the rights of docs/least-rights.md and no more. It has no server
 * that may forget: clients can't see {@code zookeeper.forceSync=no}.
 */
@Execution(ExecutionMode.CONCURRENT)
class SingleServerContractTest extends LockContract {
  private static final String FOLDER = "/contract";

  @BeforeAll
  static void prepare() throws Exception {
    LeastRights.prepare(FOLDER);
  }

  private static StoreFactory store(String servers) {
    return LeastRights.store(servers, FOLDER, Servers.SESSION);
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
