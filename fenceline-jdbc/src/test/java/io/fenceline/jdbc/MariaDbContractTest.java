package io.fenceline.jdbc;

import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.contract.StoreHarness;
import io.fenceline.testkit.proxy.Protocol;
import io.fenceline.testkit.server.MariaDbServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** MariaDB keeps the contract, by its own clock. */
@Execution(ExecutionMode.CONCURRENT)
class MariaDbContractTest extends LockContract {
  private static MariaDbServer server;

  @BeforeAll
  static void start() {
    // Eight tests at a time, of several clients each.
    server = MariaDbServer.builder().setting("max-connections", "400").start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(
        JdbcStore.url(Urls.of(server)).poolSize(2), Duration.ofSeconds(3));
  }

  @Test
  void theFirstOfAQueue_isFoundByItsName() {
    Turns.check(Urls.of(server));
  }

  @Test
  void clientThatStandsStillInATransaction_isPutOutOfIt() throws Exception {
    StandingStill.check(server, Protocol.MYSQL, Urls.of(server));
  }

  @Test
  void aRequestThatComesLate_doesNotEndALeaseSooner() {
    LateRequests.check(Urls.of(server));
  }
}
