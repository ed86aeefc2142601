package io.fenceline.redis;

import io.fenceline.redis.support.Detour;
import io.fenceline.redis.support.DocumentedRights;
import io.fenceline.redis.support.Uris;
import io.fenceline.testbed.server.NeedsValkey;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testbed.server.RedisKind;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A Cluster of Valkey keeps the contract, with the documented rights. */
@NeedsValkey
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class ValkeyClusterContractTest extends LockContract {
  private static RedisCluster valkey;

  @BeforeAll
  static void start() {
    valkey = RedisCluster.start(RedisKind.VALKEY);
    valkey.nodes().forEach(DocumentedRights::grant);
  }

  @AfterAll
  static void stop() {
    valkey.close();
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(
        RedisStores.at(DocumentedRights.uri(Uris.of(RedisKind.VALKEY, valkey))),
        Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Proxied> proxied() {
    return Optional.of(Detour.to(valkey));
  }
}
