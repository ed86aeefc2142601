package io.fenceline.jdbc.contract;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StoreRefusedException;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.schema.LeastRights;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** PostgreSQL keeps the contract, by its own clock. */
@Execution(ExecutionMode.CONCURRENT)
class PostgresContractTest extends LockContract {
  private static PostgresServer server;

  /** The contract holds for an account that may do no more than the page about it says. */
  private static String leastRights;

  @BeforeAll
  static void start() {
    // Many tests at a time, of several clients each.
    server = PostgresServer.builder().trust().setting("max_connections", "1000").start();
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
    FaultProxy proxy = FaultProxy.to(server.host(), server.port(), Protocol.POSTGRES);
    String url = leastRights.replace(server.address(), proxy.address());
    return Optional.of(new Proxied(JdbcStores.at(url).poolSize(2), proxy));
  }

  @Override
  protected Optional<Forgetful> forgetful() {
    PostgresServer weak = PostgresServer.builder().fsync(false).start();
    return Optional.of(new Forgetful(JdbcStores.at(Urls.of(weak)), "fsync = off", weak));
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
  void rowThatSomeoneKeepsLocked_costsNoHoldOfAnotherName() throws Exception {
    StandingStill.checkOtherNames(Urls.of(server));
  }

  @Test
  void oneSweep_removesAllThatIsOld() throws Exception {
    Sweeping.checkAmount(Urls.of(server));
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

  @Test
  void turnWhoseNumberWouldBeTooLarge_isRefused() throws Exception {
    String url = Urls.of(server);
    try (Fenceline seesTheLargest = Fenceline.connect(url);
        Fenceline other = Fenceline.connect(url)) {
      seesTheLargest.lock("largest").tryAcquire().orElseThrow().release();
      server.sql(
          "UPDATE fenceline_locks SET last_number = %d WHERE name = 'largest'"
              .formatted(GrantNumbers.MAX - 1));
      seesTheLargest.lock("largest").tryAcquire().orElseThrow().release();
      Hold held = other.lock("after-the-largest").tryAcquire().orElseThrow();
      CompletableFuture<Hold> waits =
          seesTheLargest.lock("after-the-largest").acquireAsync(Duration.ofSeconds(60));
      Eventually.until(
          Duration.ofSeconds(60),
          "a waiter",
          () -> !other.inspect("after-the-largest").waiters().isEmpty());
      held.release();

      assertThatThrownBy(() -> waits.get(60, TimeUnit.SECONDS))
          .hasCauseInstanceOf(StoreRefusedException.class)
          .hasMessageContaining(Long.toString(GrantNumbers.MAX + 1));
    }
  }
}
