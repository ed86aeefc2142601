package io.fenceline.etcd;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.spi.StoreAddress;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.contract.StoreHarness;
import io.fenceline.testkit.server.EtcdServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** One etcd server keeps the contract. */
@Execution(ExecutionMode.CONCURRENT)
class EtcdContractTest extends LockContract {
  private static EtcdServer etcd;

  @BeforeAll
  static void start() {
    // Elections are quick here, so that the server grants leases of one second.
    etcd = EtcdServer.start("--heartbeat-interval=50", "--election-timeout=250");
    // What is slow for the first time (classes, connections) is done before any lease runs.
    try (Fenceline client = Fenceline.connect(uri())) {
      client.lock("warm").tryAcquire().ifPresent(Hold::release);
    }
  }

  private static String uri() {
    return "etcd://" + etcd.address();
  }

  @AfterAll
  static void stop() {
    etcd.close();
  }

  @Override
  protected StoreHarness harness() {
    StoreAddress address = StoreAddress.parse(uri());
    return StoreHarness.onRealTime(new EtcdProvider().at(address), Duration.ofSeconds(2));
  }
}
