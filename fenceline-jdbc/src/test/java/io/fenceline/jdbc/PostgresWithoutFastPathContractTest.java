package io.fenceline.jdbc;

import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contract on the path that decides: every claim locks the row of its name and reads it. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class PostgresWithoutFastPathContractTest extends LockContract {
  private static PostgresServer server;

  @BeforeAll
  static void start() {
    server = PostgresServer.builder().trust().setting("max_connections", "1000").start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected StoreHarness harness() {
    JdbcStores store = JdbcStores.at(Urls.of(server)).poolSize(2).withoutFastPath();
    return StoreHarness.onRealTime(store, Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxy proxy = FaultProxy.to(server.host(), server.port(), Protocol.POSTGRES);
    String url = Urls.of(server).replace(server.address(), proxy.address());
    return Optional.of(new Proxied(JdbcStores.at(url).poolSize(2).withoutFastPath(), proxy));
  }
}
