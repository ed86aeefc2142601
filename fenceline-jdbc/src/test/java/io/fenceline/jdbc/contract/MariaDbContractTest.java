package io.fenceline.jdbc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.schema.LeastRights;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testkit.ManualTime;
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

/** MariaDB keeps the contract, by its own clock. */
@Execution(ExecutionMode.CONCURRENT)
class MariaDbContractTest extends LockContract {
  private static final Duration LONG = Duration.ofSeconds(60);

  private static MariaDbServer server;

  /** The contract holds for an account that may do no more than the page about it says. */
  private static String leastRights;

  @BeforeAll
  static void start() {
    // Many tests at a time, of several clients each.
    server = MariaDbServer.builder().setting("max-connections", "1000").start();
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
    MariaDbServer weak =
        MariaDbServer.builder().setting("innodb-flush-log-at-trx-commit", "2").start();
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
  void grants_doNotDependOnTheOrderOfAssignments() {
    // In this mode every assignment of a statement sees the row as it was before.
    String url = Urls.of(server) + "&sessionVariables=sql_mode='SIMULTANEOUS_ASSIGNMENT'";
    try (LockStore store = Heard.open(url, new ManualTime());
        LockStore other = Heard.open(url, new ManualTime())) {
      long last = 0;
      for (int i = 0; i < 5; i++) {
        Heard first = new Heard(store, "simultaneous", Mode.EXCLUSIVE, LONG);
        assertThat(first.grant().number()).isGreaterThan(last);
        last = first.grant().number();
        Heard second = new Heard(other, "simultaneous", Mode.EXCLUSIVE, LONG);
        assertThat(second.granted).isEmpty();
        other.withdraw(second.request).join();
        assertThat(store.inspect("simultaneous").join().holders())
            .singleElement()
            .satisfies(holder -> assertThat(holder.remaining()).isGreaterThan(LONG.dividedBy(2)));
        store.release(new ReleaseRequest(first.grant(), Duration.ZERO)).join();
      }
    }
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
    // In tables of its own: here, whoever inserts beside a row that is deleted waits for it, or is
    // waited for.
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
