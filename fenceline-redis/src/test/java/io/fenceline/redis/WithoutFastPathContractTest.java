package io.fenceline.redis;

import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contract on the path that decides: every claim and release is a full script. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class WithoutFastPathContractTest extends LockContract {
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
    return StoreHarness.onRealTime(
        RedisStores.at(redis.uri()).withoutFastPath(), Duration.ofMillis(2_000));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
    String uri = redis.uri().replace(redis.address(), proxy.address());
    return Optional.of(new Proxied(RedisStores.at(uri).withoutFastPath(), proxy));
  }
}
