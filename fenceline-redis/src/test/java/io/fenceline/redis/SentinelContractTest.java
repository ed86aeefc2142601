package io.fenceline.redis;

import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.contract.StoreHarness;
import io.fenceline.testkit.server.RedisSentinels;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A master that Sentinels name keeps the contract. */
@Execution(ExecutionMode.CONCURRENT)
class SentinelContractTest extends LockContract {
  private static RedisSentinels redis;

  @BeforeAll
  static void start() {
    redis = RedisSentinels.start();
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(RedisLocks.at(Uris.of(redis)), Duration.ofSeconds(2));
  }
}
