package io.fenceline.jdbc.contract;

import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.schema.LeastRights;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** MySQL keeps the contract, by its own clock. */
@NeedsMySql
@Execution(ExecutionMode.CONCURRENT)
class MySqlContractTest extends LockContract {
  private static MySqlServer server;

  /** The contract holds for an account that may do no more than the page about it says. */
  private static String leastRights;

  @BeforeAll
  static void start() {
    // Many tests at a time, of several clients each.
    server = MySqlServer.builder().setting("max-connections", "1000").start();
    leastRights = LeastRights.in(server);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(JdbcStores.at(leastRights).poolSize(2), Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxy proxy = FaultProxy.to(server.host(), server.port(), Protocol.MYSQL);
    String url = leastRights.replace(server.address(), proxy.address());
    return Optional.of(new Proxied(JdbcStores.at(url).poolSize(2), proxy));
  }

  @Override
  protected Optional<Forgetful> forgetful() {
    MySqlServer weak = MySqlServer.builder().setting("innodb-flush-log-at-trx-commit", "2").start();
    return Optional.of(
        new Forgetful(JdbcStores.at(Urls.of(weak)), "innodb_flush_log_at_trx_commit = 2", weak));
  }

  @Test
  void numbersRise_althoughTheClockIsBehind() throws Exception {
    NumbersApart.check(Urls.of(server), Urls.of(server));
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
  void rowThatSomeoneKeepsLocked_costsNoHoldOfAnotherName() throws Exception {
    StandingStill.checkOtherNames(Urls.of(server));
  }

  @Test
  void oneSweep_removesAllThatIsOld() throws Exception {
    // In tables of its own: whoever inserts beside a row that is deleted waits for it.
    try (Connection connection = DriverManager.getConnection(Urls.of(server));
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE swept");
    }
    Sweeping.checkAmount(Urls.of(server).replaceFirst("/fenceline\\?", "/swept?"));
  }

  @Test
  void aRequestThatComesLate_doesNotEndALeaseSooner() {
    LateRequests.check(Urls.of(server));
  }

  @Test
  void claimsOfTheDead_areRemovedManyAtATime() throws Exception {
    try (Connection connection = DriverManager.getConnection(Urls.of(server))) {
      DeadClaims.check(Urls.of(server), connection);
    }
  }

  @Test
  void renewalOfALockedRow_doesNotNeedTheThreadsOfOtherWork() throws Exception {
    BusyThreads.check(Urls.of(server));
  }
}
