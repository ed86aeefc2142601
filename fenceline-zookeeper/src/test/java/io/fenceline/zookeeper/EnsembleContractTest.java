package io.fenceline.zookeeper;

import io.fenceline.testbed.proxy.FaultProxies;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.ZooKeeperEnsemble;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contract on an ensemble of three. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class EnsembleContractTest extends LockContract {
  private static ZooKeeperEnsemble ensemble;

  @BeforeAll
  static void start() {
    ensemble = ZooKeeperEnsemble.start(Servers.TICK);
  }

  @AfterAll
  static void stop() {
    ensemble.close();
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(
        Servers.store(ensemble.connectString()), Duration.ofMillis(1_500));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxies proxies = FaultProxies.before(ensemble.members(), Protocol.ZOOKEEPER);
    return Optional.of(new Proxied(Servers.store(String.join(",", proxies.addresses())), proxies));
  }
}
