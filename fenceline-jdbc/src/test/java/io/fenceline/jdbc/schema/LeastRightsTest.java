package io.fenceline.jdbc.schema;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.FencelineException;
import io.fenceline.FencingToken;
import io.fenceline.diagnosis.Finding;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.jdbc.TransactionLock;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import io.fenceline.testbed.server.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The rights of docs/least-rights.md: each of them is needed, and named when it is missing. That
 * they are enough is what the contracts of PostgreSQL, MariaDB and MySQL show, which run with them.
 */
class LeastRightsTest {
  private static final Pattern GRANT = Pattern.compile("GRANT (.+) ON (.+) TO (.+)");

  private static PostgresServer postgres;
  private static MariaDbServer mariadb;
  private static String onPostgres;
  private static String onMariaDb;

  @BeforeAll
  static void start() {
    postgres = PostgresServer.builder().trust().fsync(false).start();
    mariadb = MariaDbServer.start();
    onPostgres = LeastRights.in(postgres);
    onMariaDb = LeastRights.in(mariadb);
  }

  @AfterAll
  static void stop() {
    postgres.close();
    mariadb.close();
  }

  /** What `fenceline doctor` would say: why it can't connect, or what it finds. */
  private static String diagnosis(String url) {
    try (Fenceline fenceline = Fenceline.connect(url)) {
      return fenceline.diagnose().stream()
          .filter(finding -> finding.check().equals("rights"))
          .map(finding -> finding.severity() + ": " + finding.found())
          .collect(Collectors.joining("\n"));
    } catch (FencelineException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /** Takes each right away and gives it back; returns how many there are. */
  private static int takeEachAway(String section, String url, Consumer<String> sql) {
    int count = 0;
    for (String statement : LeastRights.statements(section)) {
      Matcher grant = GRANT.matcher(statement);
      if (!grant.matches() || isOptional(grant.group(2))) {
        continue;
      }
      for (String object : grant.group(2).split(", ")) {
        for (String right : grant.group(1).split(", ")) {
          String on = right + " ON " + object.replace("DATABASE shop", "DATABASE postgres");
          sql.accept("REVOKE " + on + " FROM " + grant.group(3));
          String found = diagnosis(url);
          sql.accept("GRANT " + on + " TO " + grant.group(3));
          // Of a whole database, a right that is missing is missing on each table.
          String named =
              on.replace("locks.*", "fenceline_locks")
                  .replace("DATABASE postgres", "DATABASE")
                  .replace("locks.", "");
          assertThat(found).as(on).contains(named);
          count++;
        }
      }
    }
    return count;
  }

  /** Of fences and locks in transactions, which have no doctor. */
  private static boolean isOptional(String object) {
    return object.contains("_fences") || object.contains("_transaction_locks");
  }

  @Test
  void rightsOfPostgres_areNamedWhenMissing() {
    assertThat(diagnosis(onPostgres)).isEqualTo("OK: all that locks need");
    assertThat(takeEachAway("PostgreSQL", onPostgres, postgres::sql)).isEqualTo(12);
    assertThat(diagnosis(onPostgres)).isEqualTo("OK: all that locks need");
  }

  @Test
  void rightsOfMariaDb_areNamedWhenMissing() {
    assertThat(diagnosis(onMariaDb)).isEqualTo("OK: all that locks need");
    assertThat(takeEachAway("MariaDB", onMariaDb, mariadb::sql)).isEqualTo(10);
    assertThat(diagnosis(onMariaDb)).isEqualTo("OK: all that locks need");
  }

  @Test
  @NeedsMySql
  void rightsOfMySql_areNamedWhenMissing() throws Exception {
    try (MySqlServer mysql = MySqlServer.start()) {
      String onMySql = LeastRights.in(mysql);
      assertThat(diagnosis(onMySql)).isEqualTo("OK: all that locks need");
      assertThat(takeEachAway("MySQL", onMySql, mysql::sql)).isEqualTo(4);
      assertThat(diagnosis(onMySql)).isEqualTo("OK: all that locks need");
      checkFencesAndTransactionLocks(onMySql);
    }
  }

  @Test
  void tablesThatMayNotBeUsed_areNotMadeAnewElsewhere() {
    postgres.sql("REVOKE USAGE ON SCHEMA fenceline FROM app; GRANT CREATE ON SCHEMA public TO app");
    try {
      assertThat(diagnosis(onPostgres + ",public")).contains("lacks USAGE ON SCHEMA fenceline");
      assertThat(postgres.sql("SELECT to_regclass('public.fenceline_locks') IS NULL"))
          .isEqualTo("t");
    } finally {
      postgres.sql(
          "GRANT USAGE ON SCHEMA fenceline TO app; REVOKE CREATE ON SCHEMA public FROM app");
    }
  }

  @Test
  void rightsOfFencesAndTransactionLocks_areEnough() throws Exception {
    for (String url : List.of(onPostgres, onMariaDb)) {
      checkFencesAndTransactionLocks(url);
    }
  }

  private static void checkFencesAndTransactionLocks(String url) throws Exception {
    try (Connection connection = DriverManager.getConnection(url)) {
      connection.setAutoCommit(false);
      JdbcFence fence = JdbcFence.create();
      fence.check(connection, "ledger", FencingToken.exclusive(33));
      fence.check(connection, "ledger", FencingToken.exclusive(34));
      assertThat(fence.prune(connection, Duration.ofDays(1))).isZero();
      TransactionLock.acquire(connection, "ledger");
      assertThat(TransactionLock.tryAcquire(connection, "other")).isTrue();
      connection.rollback();
    }
  }

  @Test
  void findingOfAMissingRight_saysWhatToDo() {
    mariadb.sql("REVOKE DELETE ON locks.fenceline_claims FROM 'app'@'%'");
    try (Fenceline fenceline = Fenceline.connect(onMariaDb)) {
      assertThat(fenceline.diagnose())
          .filteredOn(finding -> finding.severity() == Finding.Severity.SERIOUS)
          .singleElement()
          .satisfies(
              finding ->
                  assertThat(finding.advice()).contains("GRANT DELETE ON fenceline_claims TO"));
    } finally {
      mariadb.sql("GRANT DELETE ON locks.fenceline_claims TO 'app'@'%'");
    }
  }
}
