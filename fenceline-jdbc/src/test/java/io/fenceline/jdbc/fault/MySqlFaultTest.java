package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.contract.Sweeping;
import io.fenceline.jdbc.layout.Micros;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.layout.Units;
import io.fenceline.jdbc.sql.MySqlDialect;
import io.fenceline.jdbc.sql.Sql;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import io.fenceline.testkit.ManualTime;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of locks when MySQL does not do well; and how many statements they cost. */
@NeedsMySql
@Isolated
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MySqlFaultTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final LockOptions LEASE = LockOptions.defaults().lease(BOUND);

  private static MySqlServer server;

  @BeforeAll
  static void start() {
    server = MySqlServer.builder().fakeTime().start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Fenceline connect(String url) {
    return Fenceline.builder().store(url).defaultOptions(LEASE).connect();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void restartOrCrash_forgetsNoGrant_andServesWhoWaited(boolean crash) throws Exception {
    Restarts.check(server, Urls.of(server), crash);
  }

  /** The last one: MySQL's own threads may sleep until a time that was, for hours, the present. */
  @Test
  @Order(Integer.MAX_VALUE)
  void forgottenNames_keepTokensRising_whenTheClockIsSetBack() {
    try {
      Sweeping.checkNumbers(Urls.of(server), server::clockOffset);
    } finally {
      server.clockOffset(Duration.ZERO);
    }
  }

  @Test
  void acquireIsOne_releaseIsOne_aHandOverIsFew() throws Exception {
    try (FaultProxy proxy = FaultProxy.to(server.host(), server.port(), Protocol.MYSQL);
        Fenceline fenceline = connect(Urls.of(server).replace(server.address(), proxy.address()))) {
      fenceline.lock("warm").tryAcquire().orElseThrow().close();

      proxy.resetCounts();
      Hold hold = fenceline.lock("counted").tryAcquire().orElseThrow();
      assertThat(proxy.count("Query")).isEqualTo(1);
      proxy.resetCounts();
      hold.close();
      assertThat(proxy.count("Query")).isEqualTo(1);
      proxy.resetCounts();
      fenceline.readWriteLock("shared").readLock().tryAcquire().orElseThrow().close();
      fenceline.semaphore("permits", 3).tryAcquire().orElseThrow().close();
      assertThat(proxy.count("Query")).isEqualTo(4);

      try (Fenceline other = connect(Urls.of(server))) {
        Hold taken = other.lock("counted").tryAcquire().orElseThrow();
        proxy.resetCounts();
        assertThat(fenceline.lock("counted").tryAcquire()).isEmpty();
        // It was alone when it was last seen: the barest way is tried first, this once.
        assertThat(proxy.count("Query")).isEqualTo(7);
        proxy.resetCounts();
        assertThat(fenceline.lock("counted").tryAcquire()).isEmpty();
        // The short way, begin, two reads, rollback, and the session as it was.
        assertThat(proxy.count("Query")).isEqualTo(6);
        taken.close();
      }
    }
  }

  /** MySQL's statement where every assignment sees the row as it was before: MariaDB can. */
  @Test
  void grants_doNotDependOnTheOrderOfAssignments() throws Exception {
    try (MariaDbServer maria = MariaDbServer.start();
        LockStore tables = Heard.open(Urls.of(maria), new ManualTime());
        Connection connection =
            DriverManager.getConnection(
                Urls.of(maria) + "&sessionVariables=sql_mode='SIMULTANEOUS_ASSIGNMENT'")) {
      assertThat(tables.list("", 1).join()).isEmpty();
      Sql claim = new MySqlDialect().sql("claim", Tables.DEFAULT);
      byte[] first = Owner.draw(new SecureRandom()).bytes();
      byte[] second = Owner.draw(new SecureRandom()).bytes();

      Long granted = claim(connection, claim, first);
      assertThat(granted).isNotNull();
      assertThat(claim(connection, claim, first)).as("a repeat").isEqualTo(granted);
      assertThat(claim(connection, claim, second)).as("a name that is held").isNull();
      free(connection);
      Long next = claim(connection, claim, second);
      assertThat(next).as("a free name").isGreaterThan(granted);
      assertThat(claim(connection, claim, first)).isNull();
      assertThat(maria.sql("SELECT number = last_number, units > 0 FROM fenceline_locks"))
          .isEqualTo("1\t1");
    }
  }

  private static @Nullable Long claim(Connection connection, Sql claim, byte[] owner)
      throws SQLException {
    Units units = Units.of(Mode.EXCLUSIVE);
    return new SqlConnection(connection, null, false)
        .call(claim, true)
        .set("name", new byte[] {'o'})
        .set("owner", owner)
        .set("units", units.taken())
        .set("capacity", units.capacity())
        .set("term", Micros.of(BOUND))
        .set("delay", 0)
        .set("client", "test")
        .set("seen", 0)
        .key();
  }

  private static void free(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("UPDATE fenceline_locks SET ends = ends - 100000000");
    }
  }
}
