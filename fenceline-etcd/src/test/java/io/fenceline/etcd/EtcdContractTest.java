package io.fenceline.etcd;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.spi.StoreAddress;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * One etcd server keeps the contract, for a user who has the rights of docs/least-rights.md and no
 * more. It has no server that may forget: clients can't see {@code --unsafe-no-fsync}.
 */
@Execution(ExecutionMode.CONCURRENT)
class EtcdContractTest extends LockContract {
  private static EtcdServer etcd;

  @BeforeAll
  static void start() {
    etcd = LeastRights.server();
    // What is slow for the first time (classes, connections) is done before any lease runs.
    try (Fenceline client =
        Fenceline.builder().store(uri()).connectTimeout(Duration.ofSeconds(60)).connect()) {
      client.lock("warm").tryAcquire().ifPresent(Hold::release);
    }
  }

  private static String uri() {
    return LeastRights.uri(etcd.address());
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
    FaultProxy proxy = FaultProxy.to(etcd.host(), etcd.port(), Protocol.HTTP2);
    StoreAddress address = StoreAddress.parse(LeastRights.uri(proxy.address()));
    return Optional.of(new Proxied(new EtcdProvider().at(address), proxy));
  }
}
