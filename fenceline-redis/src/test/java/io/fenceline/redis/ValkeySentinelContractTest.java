package io.fenceline.redis;

import io.fenceline.redis.support.Detour;
import io.fenceline.redis.support.DocumentedRights;
import io.fenceline.redis.support.Uris;
import io.fenceline.testbed.server.NeedsValkey;
import io.fenceline.testbed.server.RedisKind;
import io.fenceline.testbed.server.RedisSentinels;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A Valkey master that Sentinels name keeps the contract, with the documented rights. */
@NeedsValkey
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class ValkeySentinelContractTest extends LockContract {
  private static RedisSentinels valkey;

  @BeforeAll
  static void start() {
    valkey = RedisSentinels.start(RedisKind.VALKEY);
    valkey.servers().forEach(DocumentedRights::grant);
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
