package io.fenceline.redis;

import io.fenceline.redis.support.Detour;
import io.fenceline.redis.support.DocumentedRights;
import io.fenceline.redis.support.Uris;
import io.fenceline.testbed.server.RedisSentinels;
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

/** A master that Sentinels name keeps the contract, with a user that has the documented rights. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class SentinelContractTest extends LockContract {
  private static RedisSentinels redis;

  @BeforeAll
  static void start() {
    redis = RedisSentinels.start();
    redis.servers().forEach(DocumentedRights::grant);
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(
        RedisStores.at(DocumentedRights.uri(Uris.of(redis))), Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Proxied> proxied() {
    return Optional.of(Detour.to(redis));
  }

  @Override
  protected Optional<Forgetful> forgetful() {
    RedisSentinels weak = RedisSentinels.start();
    for (RedisServer server : weak.servers()) {
      server.command("CONFIG", "SET", "maxmemory", "100mb");
      server.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
    }
    return Optional.of(
        new Forgetful(RedisStores.at(Uris.of(weak)), "evicts by volatile-lru", weak));
  }
}
