package io.fenceline.redis;

import io.fenceline.redis.support.Detour;
import io.fenceline.redis.support.DocumentedRights;
import io.fenceline.redis.support.SmallCluster;
import io.fenceline.redis.support.Uris;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A Cluster of three masters with replicas keeps the contract, with a user that has the documented
 * rights.
 */
@Execution(ExecutionMode.CONCURRENT)
class ClusterContractTest extends LockContract {
  private static RedisCluster redis;

  @BeforeAll
  static void start() {
    redis = RedisCluster.start();
    redis.nodes().forEach(DocumentedRights::grant);
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
    SmallCluster weak =
        new SmallCluster(
            0,
            2,
            "appendonly yes",
            "appendfsync always",
            "maxmemory 100mb",
            "maxmemory-policy volatile-lru");
    String uri = SmallCluster.uri(weak.sharing(0), weak.sharing(1));
    return Optional.of(new Forgetful(RedisStores.at(uri), "evicts by volatile-lru", weak));
  }
}
