package io.fenceline.redis;

import io.fenceline.redis.support.DocumentedRights;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.NeedsValkey;
import io.fenceline.testbed.server.RedisKind;
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

/** One Valkey server keeps the contract, with a user that has the documented rights only. */
@NeedsValkey
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class ValkeyContractTest extends LockContract {
  private static RedisServer valkey;

  @BeforeAll
  static void start() {
    valkey =
        RedisServer.builder().kind(RedisKind.VALKEY).user("locks", DocumentedRights.rule()).start();
  }

  @AfterAll
  static void stop() {
    valkey.close();
  }

  private static String uri() {
    return DocumentedRights.uri(valkey.uri());
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(RedisStores.at(uri()), Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Forgetful> forgetful() {
    RedisServer weak =
        RedisServer.builder()
            .kind(RedisKind.VALKEY)
            .appendOnly("always")
            .maxMemory("100mb", "volatile-lru")
            .start();
    return Optional.of(new Forgetful(RedisStores.at(weak.uri()), "evicts by volatile-lru", weak));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxy proxy = FaultProxy.to(valkey.host(), valkey.port(), Protocol.RESP);
    return Optional.of(
        new Proxied(RedisStores.at(uri().replace(valkey.address(), proxy.address())), proxy));
  }
}
