package io.fenceline.redis;

import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.contract.StoreHarness;
import io.fenceline.testkit.server.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** One Redis server keeps the contract. */
@Execution(ExecutionMode.CONCURRENT)
class SingleContractTest extends LockContract {
  private static RedisServer redis;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(RedisLocks.at(redis.uri()), Duration.ofSeconds(2));
  }
}
