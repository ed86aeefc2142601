package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StoreUnavailableException;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each cell of the table of isolation levels in docs/sql.md, and the query of docs/transactions.md.
 */
class TransactionIsolationTest {
  private static final Map<String, Integer> LEVELS =
      Map.of(
          "READ UNCOMMITTED", Connection.TRANSACTION_READ_UNCOMMITTED,
          "READ COMMITTED", Connection.TRANSACTION_READ_COMMITTED,
          "REPEATABLE READ", Connection.TRANSACTION_REPEATABLE_READ,
          "SERIALIZABLE", Connection.TRANSACTION_SERIALIZABLE);

  private static final List<AutoCloseable> SERVERS = new ArrayList<>();
  private static final Map<String, String> URLS = new HashMap<>();

  @TempDir static Path folder;

  /** A cell of the table. */
  private record Cell(String database, String level, String says) {
    int isolation() {
      return LEVELS.get(level);
    }
  }

  @BeforeAll
  static void start() throws Exception {
    PostgresServer postgres = PostgresServer.builder().trust().fsync(false).start();
    MariaDbServer mariadb = MariaDbServer.start();
    SERVERS.addAll(List.of(postgres, mariadb));
    URLS.put("PostgreSQL", Urls.of(postgres));
    URLS.put("MariaDB", Urls.of(mariadb));
    if (MySqlServer.isForThisMachine()) {
      MySqlServer mysql = MySqlServer.start();
      SERVERS.add(mysql);
      URLS.put("MySQL", Urls.of(mysql));
    }
    URLS.put("SQLite", "jdbc:sqlite:" + folder.resolve("locks.db"));
    for (Map.Entry<String, String> each : URLS.entrySet()) {
      Fenceline.connect(each.getValue()).close(); // Makes the tables.
      try (Connection connection = DriverManager.getConnection(each.getValue());
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE invoices (number INT)");
        statement.execute("INSERT INTO invoices VALUES (1)");
      }
    }
  }

  @AfterAll
  static void stop() throws Exception {
    for (AutoCloseable server : SERVERS) {
      server.close();
    }
  }

  static List<Cell> cells() throws Exception {
    List<Cell> cells = new ArrayList<>();
    List<String> databases = List.of();
    for (String line : Files.readAllLines(Path.of("../docs/sql.md"))) {
      List<String> parts = List.of(line.split(" *\\| *", -1));
      if (line.startsWith("| Isolation level")) {
        databases = parts;
      } else if (!databases.isEmpty() && parts.size() > 1 && LEVELS.containsKey(parts.get(1))) {
        for (int i = 2; i < parts.size() - 1; i++) {
          // Of MySQL, MySqlServer says on which machines there is none.
          if (!parts.get(i).isEmpty()
              && (MySqlServer.isForThisMachine() || !databases.get(i).equals("MySQL"))) {
            cells.add(new Cell(databases.get(i), parts.get(1), parts.get(i)));
          }
        }
      }
    }
    return cells;
  }

  /** Those in which locks can be taken beside each other; SQLite's lock is the file's. */
  static List<Cell> cellsWithNames() throws Exception {
    return cells().stream()
        .filter(cell -> !cell.says.equals("refused") && !cell.database.equals("SQLite"))
        .toList();
  }

  private static String queryOfThePage() throws Exception {
    String page = Files.readString(Path.of("../docs/transactions.md"));
    int start = page.indexOf("```sql\n") + "```sql\n".length();
    return page.substring(start, page.indexOf("```", start));
  }

  /** The processes at the server that hold the lock, or wait for it. */
  private static List<Integer> sessions(Statement statement, boolean granted) throws Exception {
    List<Integer> found = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery(queryOfThePage())) {
      while (rows.next()) {
        if (rows.getBoolean("granted") == granted) {
          found.add(rows.getInt("pid"));
        }
      }
    }
    return found;
  }

  private static int session(Connection connection) throws Exception {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      return row.getInt(1);
    }
  }

  @Test
  void queryOfThePage_showsWhoHolds_andWhoWaits() throws Exception {
    String url = URLS.get("PostgreSQL");
    try (Connection holder = DriverManager.getConnection(url);
        Connection other = DriverManager.getConnection(url);
        Connection waiter = DriverManager.getConnection(url);
        Connection operator = DriverManager.getConnection(url);
        Statement statement = operator.createStatement()) {
      for (Connection each : List.of(holder, other, waiter)) {
        each.setAutoCommit(false);
      }
      assertThat(sessions(statement, true)).isEmpty();
      TransactionLock.acquire(holder, "invoice-numbers");
      TransactionLock.acquire(other, "another-name");
      int waiting = session(waiter);
      CompletableFuture<Void> acquired =
          CompletableFuture.runAsync(() -> TransactionLock.acquire(waiter, "invoice-numbers"));

      Eventually.until(
          Duration.ofSeconds(40),
          "the waiter",
          () -> sessions(statement, false).equals(List.of(waiting)));
      assertThat(sessions(statement, true)).containsExactly(session(holder));
      holder.commit();
      acquired.get(40, TimeUnit.SECONDS);
      assertThat(sessions(statement, true)).containsExactly(waiting);
      waiter.rollback();
      assertThat(sessions(statement, true)).isEmpty();
    }
  }

  @Test
  void table_hasAllLevelsOfAllDatabases() throws Exception {
    assertThat(cells()).hasSize(MySqlServer.isForThisMachine() ? 13 : 9);
  }

  private static Connection open(Cell cell) throws SQLException {
    Connection connection = DriverManager.getConnection(URLS.get(cell.database));
    connection.setTransactionIsolation(cell.isolation());
    connection.setAutoCommit(false);
    return connection;
  }

  private static int last(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT max(number) FROM invoices")) {
      row.next();
      return row.getInt(1);
    }
  }

  /** Reads the last invoice, and adds the next one. */
  private static int issue(Connection connection) throws SQLException {
    int next = last(connection) + 1;
    try (Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO invoices (number) VALUES (" + next + ")");
    }
    return next;
  }

  @ParameterizedTest
  @MethodSource("cells")
  void cell_isAsTheTableSays(Cell cell) throws Exception {
    switch (cell.says) {
      case "refused" -> checkRefused(cell);
      case "right" -> {
        checkRight(cell);
        if (cell.isolation() <= Connection.TRANSACTION_READ_COMMITTED) {
          checkEarlyRead(cell, true);
        }
      }
      case "right, unless read before" -> {
        checkRight(cell);
        checkEarlyRead(cell, false);
      }
      default -> throw new AssertionError(cell.says);
    }
  }

  private static void checkRefused(Cell cell) throws SQLException {
    try (Connection connection = open(cell)) {
      assertThatThrownBy(() -> TransactionLock.acquire(connection, "refused"))
          .isInstanceOf(InvalidSettingException.class);
      connection.rollback();
      assertThatThrownBy(() -> TransactionLock.tryAcquire(connection, "refused"))
          .isInstanceOf(InvalidSettingException.class);
      connection.rollback();
    }
  }

  /** Who has waited for the lock reads what the last holder has written; so does who has tried. */
  private static void checkRight(Cell cell) throws Exception {
    String name = "right at " + cell.level;
    try (Connection one = open(cell);
        Connection two = open(cell)) {
      TransactionLock.acquire(one, name);
      int first = issue(one);
      CompletableFuture<Void> waiting =
          CompletableFuture.runAsync(() -> TransactionLock.acquire(two, name));
      one.commit();
      waiting.get();
      assertThat(issue(two)).isEqualTo(first + 1);
      assertThat(TransactionLock.tryAcquire(one, name)).isFalse();
      one.rollback();
      two.commit();
      assertThat(TransactionLock.tryAcquire(one, name)).isTrue();
      assertThat(issue(one)).isEqualTo(first + 2);
      one.commit();
    }
  }

  /** A transaction that has read before the last holder has committed. */
  private static void checkEarlyRead(Cell cell, boolean seesAll) throws SQLException {
    String name = "early at " + cell.level;
    try (Connection one = open(cell);
        Connection two = open(cell)) {
      int before = last(two);
      TransactionLock.acquire(one, name);
      assertThat(issue(one)).isEqualTo(before + 1);
      one.commit();
      if (seesAll) {
        TransactionLock.acquire(two, name);
        assertThat(last(two)).isEqualTo(before + 1);
      } else {
        // Not "taken": that would be so for as long as the transaction tries.
        assertThatThrownBy(() -> TransactionLock.tryAcquire(two, name))
            .isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(() -> TransactionLock.acquire(two, name))
            .isInstanceOf(StoreUnavailableException.class);
      }
      two.rollback();
      TransactionLock.acquire(two, name);
      assertThat(last(two)).isEqualTo(before + 1);
      two.rollback();
    }
  }

  /** New names beside each other do not wait for each other, nor is one that is free refused. */
  @ParameterizedTest
  @MethodSource("cellsWithNames")
  void tryOfANewName_doesNotMeetOtherNewNames(Cell cell) throws SQLException {
    try (Connection one = open(cell);
        Connection two = open(cell)) {
      for (int i = 0; i < 5; i++) {
        assertThat(TransactionLock.tryAcquire(one, "new-a-" + cell.level + i)).isTrue();
        assertThat(TransactionLock.tryAcquire(two, "new-b-" + cell.level + i)).isTrue();
        assertThat(TransactionLock.tryAcquire(two, "new-a-" + cell.level + i)).isFalse();
      }
      one.rollback();
      two.rollback();
    }
  }
}
