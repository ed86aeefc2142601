package io.fenceline.redis;

import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.contract.StoreHarness;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Five independent servers keep the contract. */
@Execution(ExecutionMode.CONCURRENT)
class RedlockContractTest extends LockContract {
  private static RedlockServers nodes;

  @BeforeAll
  static void start() {
    nodes = RedlockServers.start(5);
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(Redlock.at(nodes.uri()), Duration.ofSeconds(2));
  }
}
