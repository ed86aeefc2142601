package io.fenceline.etcd;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.spi.StoreAddress;
import io.fenceline.testbed.proxy.FaultProxies;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.EtcdCluster;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Three etcd servers keep the contract; requests go to all of them in turn. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class EtcdClusterContractTest extends LockContract {
  private static EtcdCluster etcd;

  @BeforeAll
  static void start() {
    etcd = EtcdCluster.start();
    // What is slow for the first time (classes, connections) is done before any lease runs.
    try (Fenceline client =
        Fenceline.builder().store(uri()).connectTimeout(Duration.ofSeconds(60)).connect()) {
      client.lock("warm").tryAcquire().ifPresent(Hold::release);
    }
  }

  private static String uri() {
    return "etcd://" + etcd.endpoints().replace("http://", "");
  }

  @AfterAll
  static void stop() {
    etcd.close();
  }

  @Override
  protected StoreHarness harness() {
    StoreAddress address = StoreAddress.parse(uri());
    return StoreHarness.onRealTime(new EtcdProvider().at(address), Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxies proxies = FaultProxies.before(etcd.members(), Protocol.HTTP2);
    StoreAddress address = StoreAddress.parse("etcd://" + String.join(",", proxies.addresses()));
    return Optional.of(new Proxied(new EtcdProvider().at(address), proxies));
  }
}
