package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreRefusedException;
import io.fenceline.fence.Fence;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.jdbc.Throwables;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.contract.StandingStill;
import io.fenceline.jdbc.contract.Sweeping;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What becomes of locks when PostgreSQL does not do well. */
@Isolated
class PostgresFaultTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final LockOptions LONG_LEASE =
      LockOptions.defaults().lease(Duration.ofSeconds(60));

  private static PostgresServer server;

  @BeforeAll
  static void start() {
    // By default, this database would forget what it has committed in the last ten seconds.
    server =
        PostgresServer.builder()
            .setting("synchronous_commit", "off")
            .setting("wal_writer_delay", "10s")
            .fakeTime()
            .start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Fenceline connect(String url) {
    return Fenceline.builder().store(url).defaultOptions(LONG_LEASE).connect();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void restartOrCrash_forgetsNoGrant_andServesWhoWaited(boolean crash) throws Exception {
    Restarts.check(server, Urls.of(server), crash);
  }

  @Test
  void releaseThatKeepsTheNameClosed_isNotForgottenInACrash() {
    LockOptions once = LONG_LEASE.keepAtLeast(Duration.ofMinutes(30));
    try (Fenceline one = connect(Urls.of(server));
        Fenceline two = connect(Urls.of(server))) {
      Hold job = one.lock("run-once", once).tryAcquire().orElseThrow();
      assertThat(job.release()).isEqualTo(ReleaseOutcome.RELEASED);

      server.kill();
      server.restart();

      Eventually.until(BOUND, "an answer", () -> two.inspect("run-once").holders().size() == 1);
      assertThat(two.inspect("run-once").holders().get(0).remaining())
          .isGreaterThan(Duration.ofMinutes(20));
      assertThat(two.lock("run-once").tryAcquire()).isEmpty();
    }
  }

  @Test
  void markOfAFenceThatStandsAlone_isNotForgottenInACrash() throws Exception {
    FencingToken newer = FencingToken.exclusive(34);
    PGSimpleDataSource database = new PGSimpleDataSource();
    database.setUrl(Urls.of(server));
    Fence fence = JdbcFence.create().over(database);
    try (Connection connection = database.getConnection()) {
      JdbcFence.create().createTable(connection);
    }
    server.sql("CHECKPOINT");
    fence.check("elsewhere", newer);

    server.kill();
    server.restart();

    assertThatThrownBy(() -> fence.check("elsewhere", FencingToken.exclusive(33)))
        .isInstanceOf(StaleTokenException.class);
  }

  @Test
  void forgottenNames_keepTokensRising_whenTheClockIsSetBack() {
    try {
      Sweeping.checkNumbers(Urls.of(server), server::clockOffset);
    } finally {
      server.clockOffset(Duration.ZERO);
    }
  }

  @Test
  void terminatedBackends_areReplaced() throws Exception {
    try (Fenceline one = connect(Urls.of(server));
        Fenceline two = connect(Urls.of(server))) {
      Hold hold = one.lock("terminated").tryAcquire().orElseThrow();
      CompletableFuture<Hold> waiting = two.lock("terminated").acquireAsync(BOUND);
      Eventually.until(BOUND, "the queue", () -> one.inspect("terminated").waiters().size() == 1);

      String ended =
          server.sql(
              "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                  + " WHERE application_name = 'fenceline'");

      assertThat(Integer.parseInt(ended)).isGreaterThanOrEqualTo(2);
      assertThat(hold.isValid()).isTrue();
      hold.release();
      waiting.get().close();
    }
  }

  @Test
  void lostReplyOfAClaim_isAskedAgain_andGivesTheSameGrant() throws Exception {
    try (FaultProxy proxy = FaultProxy.to(server.host(), server.port(), Protocol.POSTGRES);
        Fenceline one = connect(Urls.of(server).replace(server.address(), proxy.address()));
        Fenceline two = connect(Urls.of(server))) {
      Fault lost =
          proxy.cutBeforeReply(Trigger.first(request -> request.contains("ON CONFLICT (name)")));

      Hold hold = one.lock("lost-reply").acquireAsync(BOUND).get();

      assertThat(lost.timesApplied()).isEqualTo(1);
      assertThat(two.inspect("lost-reply").holders())
          .singleElement()
          .satisfies(holder -> assertThat(holder.token()).isEqualTo(hold.token()));
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      assertThat(two.lock("lost-reply").tryAcquire()).isPresent();
    }
  }

  @Test
  void clientThatStandsStillInATransaction_isPutOutOfIt() throws Exception {
    StandingStill.check(server, Protocol.POSTGRES, Urls.of(server));
  }

  /** Nothing was done: a try is not told that the database is away, as if it had been. */
  @Test
  void claimOfAClientThatWasPutOutOfItsTransaction_isMadeAgain() throws Exception {
    String idle =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'fenceline'"
            + " AND state LIKE 'idle in transaction%'";
    try (FaultProxy proxy = FaultProxy.to(server.host(), server.port(), Protocol.POSTGRES);
        Fenceline one = connect(Urls.of(server).replace(server.address(), proxy.address()));
        Fenceline two = connect(Urls.of(server));
        Hold beside = two.readWriteLock("put-out").readLock().tryAcquire().orElseThrow()) {
      Fault late = proxy.holdReply(Trigger.first(request -> request.contains("FOR UPDATE")));
      CompletableFuture<Optional<Hold>> asked =
          one.readWriteLock("put-out").readLock().tryAcquireAsync();
      Eventually.until(BOUND, "a reply to be late", () -> late.timesApplied() == 1);
      Eventually.until(
          BOUND, "the transaction to be ended", () -> server.sql(idle), found -> found.equals("0"));

      late.lift();

      assertThat(asked.get()).isPresent();
      assertThat(beside.isValid()).isTrue();
    }
  }

  @Test
  void standby_saysThatItIsReadOnly() {
    try (Fenceline primary = connect(Urls.of(server));
        PostgresServer standby = server.startStandby()) {
      assertThat(primary.lock("warm").tryAcquire()).isPresent();
      standby.awaitInSync(BOUND);
      assertThatThrownBy(() -> connect(Urls.of(standby)))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("may only read; locks need the primary")
          .hasMessageContaining(standby.address());
    }
  }

  @Test
  void userWhoMayOnlyRead_isToldSo_withoutThePassword() {
    try (Fenceline primary = connect(Urls.of(server))) {
      assertThat(primary.lock("warm2").tryAcquire()).isPresent();
    }
    server.sql(
        "CREATE USER reader PASSWORD 'reader-secret';"
            + "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader");
    String url = server.jdbcUrl() + "?user=reader&password=reader-secret";
    assertThatThrownBy(() -> connect(url))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("the user lacks INSERT ON public.fenceline_locks")
        .hasMessageContaining("permission denied")
        .satisfies(e -> assertThat(Throwables.all(e)).doesNotContain("reader-secret"));
  }

  @Test
  void wrongPassword_isNotShown() {
    String url = server.jdbcUrl() + "?user=" + server.user() + "&password=not-this-one";
    assertThatThrownBy(() -> connect(url))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("refused the login")
        .satisfies(e -> assertThat(Throwables.all(e)).doesNotContain("not-this-one"));
  }

  @Test
  void clockSetBackAnHour_closesADeadHoldersName_forOneLeaseOnly() throws Exception {
    Duration lease = Duration.ofSeconds(2);
    LockOptions fixed = LockOptions.defaults().fixedLease(lease);
    try (Fenceline fenceline = connect(Urls.of(server))) {
      // A fixed lease that nobody renews or releases is what a dead holder leaves behind.
      Hold dead = fenceline.lock("clock", fixed).tryAcquire().orElseThrow();
      try {
        server.clockOffset(Duration.ofHours(-1));
        long ends =
            Long.parseLong(
                server.sql(
                    "SELECT (ends / 1000000 - extract(epoch FROM clock_timestamp()))::bigint"
                        + " FROM fenceline_locks WHERE name = 'clock'"));
        assertThat(ends).isGreaterThan(3_000);
        long start = System.nanoTime();
        try (Fenceline other = connect(Urls.of(server))) {
          Optional<Hold> early = other.lock("clock").tryAcquire();
          assertThat(early).isEmpty();
          Hold next = other.lock("clock").acquireAsync(BOUND).get();
          assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(lease.plusSeconds(2));
          assertThat(next.token()).isGreaterThan(dead.token());
          next.close();
        }
      } finally {
        server.clockOffset(Duration.ZERO);
      }
    }
  }
}
