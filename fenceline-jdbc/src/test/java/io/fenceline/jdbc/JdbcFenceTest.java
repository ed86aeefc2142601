package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.Fence;
import io.fenceline.fence.FenceListener;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.fence.FenceContract;
import io.fenceline.testkit.fence.FencedCell;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fences in databases: in a table of their own, and in a column of the row that they guard. */
class JdbcFenceTest {
  @TempDir static Path folder;
  private static PostgresServer postgres;
  private static MariaDbServer mariadb;
  private static HikariDataSource onPostgres;
  private static HikariDataSource onMariaDb;
  private static @Nullable MySqlServer mysql;
  private static @Nullable HikariDataSource onMySql;
  private static HikariDataSource onSqlite;

  @BeforeAll
  static void start() throws SQLException {
    postgres = PostgresServer.builder().fsync(false).start();
    mariadb = MariaDbServer.start();
    onPostgres = pool(Urls.of(postgres));
    onMariaDb = pool(Urls.of(mariadb));
    if (MySqlServer.isForThisMachine()) {
      mysql = MySqlServer.start();
      onMySql = pool(Urls.of(mysql));
    }
    onSqlite = pool("jdbc:sqlite:" + folder.resolve("shop.db") + "?busy_timeout=60000");
  }

  @AfterAll
  static void stop() {
    onPostgres.close();
    onMariaDb.close();
    if (onMySql != null) {
      onMySql.close();
      mysql.close();
    }
    onSqlite.close();
    postgres.close();
    mariadb.close();
  }

  private static List<DataSource> pools() {
    return Stream.of(onPostgres, onMariaDb, onSqlite, onMySql)
        .filter(Objects::nonNull)
        .map(DataSource.class::cast)
        .toList();
  }

  private static HikariDataSource pool(String url) throws SQLException {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(16);
    config.setMinimumIdle(1);
    config.setConnectionTimeout(60_000);
    config.setAutoCommit(false);
    HikariDataSource pool = new HikariDataSource(config);
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE cells (id VARCHAR(40) PRIMARY KEY, content VARCHAR(40), fence BIGINT)");
      JdbcFence.create().createTable(connection);
      connection.commit();
    }
    return pool;
  }

  private interface Check {
    void run(Connection connection, String name, FencingToken token);
  }

  /** A row that is written in one transaction with a check. */
  private record Cell(DataSource pool, String name, Check check) implements FencedCell {
    private static final String DEADLOCK = "40001";

    static FencedCell create(DataSource pool, String name, Check check) {
      try (Connection connection = pool.getConnection();
          PreparedStatement insert =
              connection.prepareStatement("INSERT INTO cells (id, content) VALUES (?, '')")) {
        insert.setString(1, name);
        insert.executeUpdate();
        connection.commit();
      } catch (SQLException e) {
        throw new AssertionError(e);
      }
      return new Cell(pool, name, check);
    }

    @Override
    public void write(String value, FencingToken token) {
      while (!isWritten(value, token)) {
        // The database has chosen this transaction to end a deadlock: it is repeated, as always.
      }
    }

    private boolean isWritten(String value, FencingToken token) {
      try (Connection connection = pool.getConnection()) {
        if (pool != onSqlite) {
          connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        try (PreparedStatement update =
            connection.prepareStatement("UPDATE cells SET content = ? WHERE id = ?")) {
          check.run(connection, name, token);
          update.setString(1, value);
          update.setString(2, name);
          assertThat(update.executeUpdate()).isEqualTo(1);
          connection.commit();
          return true;
        } catch (StaleTokenException e) {
          connection.rollback();
          throw e;
        } catch (StoreUnavailableException e) {
          connection.rollback();
          if (e.getCause() instanceof SQLException cause && DEADLOCK.equals(cause.getSQLState())) {
            return false;
          }
          throw e;
        }
      } catch (SQLException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public String read() {
      try (Connection connection = pool.getConnection();
          PreparedStatement query =
              connection.prepareStatement("SELECT content FROM cells WHERE id = ?")) {
        query.setString(1, name);
        try (ResultSet row = query.executeQuery()) {
          assertThat(row.next()).isTrue();
          return row.getString(1);
        }
      } catch (SQLException e) {
        throw new AssertionError(e);
      }
    }
  }

  private static FencedCell tableCell(DataSource pool, String name, FenceListener listener) {
    return Cell.create(pool, name, JdbcFence.create().listener(listener)::check);
  }

  private static FencedCell rowCell(DataSource pool, String name, FenceListener listener) {
    return Cell.create(
        pool, "row-" + name, FencedRow.of("cells", "id", "fence").listener(listener)::check);
  }

  @Nested
  class TableInPostgres extends FenceContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return tableCell(onPostgres, name, listener);
    }
  }

  @Nested
  class TableInMariaDb extends FenceContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return tableCell(onMariaDb, name, listener);
    }
  }

  @Nested
  @NeedsMySql
  class TableInMySql extends FenceContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return tableCell(onMySql, name, listener);
    }
  }

  @Nested
  class TableInSqlite extends FenceContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return tableCell(onSqlite, name, listener);
    }
  }

  /** The column of the guarded row takes exclusive tokens only. */
  abstract static class RowContract extends FenceContract {
    @Override
    protected boolean takesShared() {
      return false;
    }
  }

  @Nested
  class RowInPostgres extends RowContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return rowCell(onPostgres, name, listener);
    }
  }

  @Nested
  @NeedsMySql
  class RowInMySql extends RowContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return rowCell(onMySql, name, listener);
    }
  }

  @Nested
  class RowInMariaDb extends RowContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return rowCell(onMariaDb, name, listener);
    }
  }

  @Nested
  class RowInSqlite extends RowContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return rowCell(onSqlite, name, listener);
    }
  }

  private static final FencingToken T33 = FencingToken.exclusive(33);
  private static final FencingToken T34 = FencingToken.exclusive(34);

  @Test
  void whatIsRolledBack_wasNotAccepted() throws SQLException {
    JdbcFence fence = JdbcFence.create();
    for (DataSource pool : pools()) {
      try (Connection connection = pool.getConnection()) {
        fence.check(connection, "rolled back", T34);
        connection.rollback();
        fence.check(connection, "rolled back", T33);
        connection.commit();
      }
    }
  }

  /** In PostgreSQL, "if not exists" alone does not keep two apart who create at the same moment. */
  @Test
  void tableThatAnotherCreatesAtTheSameMoment_isThereForBoth() throws Exception {
    JdbcFence fence = JdbcFence.create().tablePrefix("same_moment");
    try (Connection first = onPostgres.getConnection();
        Connection second = onPostgres.getConnection();
        Connection observer = onPostgres.getConnection()) {
      fence.createTable(first);
      CompletableFuture<Void> behind = CompletableFuture.runAsync(() -> fence.createTable(second));
      Eventually.until(
          Duration.ofSeconds(60), "the second to wait for the first", () -> isOneWaiting(observer));
      first.commit();
      behind.get(60, TimeUnit.SECONDS);

      // Its transaction has not suffered.
      fence.check(second, "row", FencingToken.exclusive(7));
      second.commit();
    }
  }

  private static boolean isOneWaiting(Connection observer) {
    try (Statement statement = observer.createStatement();
        ResultSet waiting =
            statement.executeQuery("SELECT count(*) FROM pg_locks WHERE NOT granted")) {
      return waiting.next() && waiting.getInt(1) == 1;
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void connectionThatCommitsEachStatement_isRefused() throws SQLException {
    try (Connection connection = DriverManager.getConnection(Urls.of(postgres))) {
      assertThatThrownBy(() -> JdbcFence.create().check(connection, "ledger", T33))
          .isInstanceOf(InvalidSettingException.class)
          .hasMessageContaining("commit together");
      assertThatThrownBy(() -> FencedRow.of("cells", "id", "fence").check(connection, "x", T33))
          .isInstanceOf(InvalidSettingException.class);
    }
  }

  @Test
  void rowThatIsNotThere_andNamesThatAreNoWords_areErrors() throws SQLException {
    FencedRow row = FencedRow.of("cells", "id", "fence");
    try (Connection connection = onPostgres.getConnection()) {
      assertThatThrownBy(() -> row.check(connection, "nobody", T33))
          .isInstanceOf(InvalidSettingException.class)
          .hasMessageContaining("cells/nobody");
      connection.rollback();
      assertThatThrownBy(() -> JdbcFence.create().check(connection, "", T33))
          .isInstanceOf(InvalidSettingException.class);
    }
    assertThatThrownBy(() -> FencedRow.of("cells; DROP TABLE cells", "id", "fence"))
        .isInstanceOf(InvalidSettingException.class);
  }

  @Test
  void ownUpdateWithTheCondition_isJudgedByItsCount() throws SQLException {
    FencedRow row = FencedRow.of("cells", "id", "fence");
    Cell.create(onPostgres, "own", row::check).write("of 34", T34);
    try (Connection connection = onPostgres.getConnection();
        PreparedStatement update =
            connection.prepareStatement(
                "UPDATE cells SET content = 'mine', fence = ? WHERE id = 'own' AND fence <= ?")) {
      update.setLong(1, 33);
      update.setLong(2, 33);
      int updated = update.executeUpdate();

      assertThatThrownBy(() -> row.verify(connection, "own", T33, updated))
          .isInstanceOf(StaleTokenException.class);
      connection.rollback();
    }
  }

  @Test
  void fenceOverADataSource_remembersByItself() {
    JdbcFence fence = JdbcFence.create();
    for (DataSource pool : pools()) {
      fence.over(pool).check("elsewhere", T34);
      assertThatThrownBy(() -> fence.over(pool).check("elsewhere", T33))
          .isInstanceOf(StaleTokenException.class);
    }
  }

  /** Hands the connection of the caller's transaction to its own thread, as frameworks do. */
  private static DataSource transactionAware(Connection bound, Thread caller) {
    return proxy(
        DataSource.class,
        (method, arguments) ->
            Thread.currentThread() != caller
                ? DriverManager.getConnection(Urls.of(postgres))
                : proxy(
                    Connection.class,
                    (name, values) ->
                        name.getName().equals("close") ? null : name.invoke(bound, values)));
  }

  @FunctionalInterface
  private interface Answering {
    Object answer(Method method, Object[] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Answering answering) {
    return type.cast(
        Proxy.newProxyInstance(
            JdbcFenceTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return answering.answer(method, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  @Test
  void fenceOverADataSource_takesPartInTheCallersTransaction_andNeverEndsIt() throws Exception {
    try (Connection caller = DriverManager.getConnection(Urls.of(postgres));
        Statement statement = caller.createStatement()) {
      caller.setAutoCommit(false);
      Fence fence = JdbcFence.create().over(transactionAware(caller, Thread.currentThread()));
      statement.execute("INSERT INTO cells (id, content) VALUES ('taking-part', 'draft')");
      fence.check("taking-part", T34);
      statement.execute("UPDATE cells SET content = 'done' WHERE id = 'taking-part'");

      caller.rollback();

      assertThat(postgres.sql("SELECT count(*) FROM cells WHERE id = 'taking-part'"))
          .isEqualTo("0");
      fence.check("taking-part", T33); // The mark of 34 was rolled back with all the rest.
      caller.commit();
      assertThatThrownBy(() -> fence.check("taking-part", FencingToken.exclusive(32)))
          .isInstanceOf(StaleTokenException.class);
      caller.rollback();
    }
  }

  /** A pool of one connection, which the caller has in its transaction, if there is one. */
  private static final class PoolOfOne {
    private final Connection only;
    private final Thread caller = Thread.currentThread();

    PoolOfOne(Connection only) {
      this.only = only;
    }

    DataSource dataSource() {
      return proxy(
          DataSource.class,
          (method, arguments) -> {
            if (Thread.currentThread() != caller) {
              throw new SQLTransientConnectionException("all connections are in use");
            }
            return proxy(
                Connection.class,
                (name, values) ->
                    name.getName().equals("close") ? null : name.invoke(only, values));
          });
    }
  }

  @Test
  void fenceOverAPoolOfOne_knowsATransaction_byTheCheckBeforeIt() throws Exception {
    try (Connection only = DriverManager.getConnection(Urls.of(postgres))) {
      Fence fence = JdbcFence.create().over(new PoolOfOne(only).dataSource());
      fence.check("pool-of-one", T33);
      only.setAutoCommit(false);
      fence.check("pool-of-one", T34);
      only.rollback();
      fence.check("pool-of-one", T33);
      only.rollback();
    }
  }

  @Test
  void fenceThatNeedsASecondConnection_saysSo() throws Exception {
    try (Connection only = DriverManager.getConnection(Urls.of(postgres))) {
      Fence fence = JdbcFence.create().over(new PoolOfOne(only).dataSource());
      only.setAutoCommit(false);
      assertThatThrownBy(() -> fence.check("second", T33))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("'second'")
          .hasMessageContaining("the fence needs another connection")
          .hasMessageContaining("all connections are in use");
    }
  }

  @Test
  void columnWithoutRoomForTokens_isRefused() throws SQLException {
    FencingToken large = FencingToken.exclusive(5L << 40);
    FencingToken stale = FencingToken.exclusive(4L << 40);
    String lax = Urls.of(mariadb) + "&sessionVariables=sql_mode=''";
    for (String url : new String[] {lax, Urls.of(postgres)}) {
      try (Connection connection = DriverManager.getConnection(url);
          Statement statement = connection.createStatement()) {
        statement.execute(
            "CREATE TABLE narrow (id INT PRIMARY KEY, small INT, rounded DOUBLE PRECISION,"
                + " big BIGINT, digits DECIMAL(19))");
        statement.execute("INSERT INTO narrow (id) VALUES (1)");
        // PostgreSQL rounds to thousands, where it is asked to.
        String thousands = url.equals(lax) ? "DECIMAL(16)" : "NUMERIC(16, -3)";
        statement.execute("ALTER TABLE narrow ADD COLUMN thousands " + thousands);
        connection.setAutoCommit(false);
        for (String column : new String[] {"small", "rounded", "thousands"}) {
          FencedRow row = FencedRow.of("narrow", "id", column);
          assertThatThrownBy(() -> row.check(connection, 1, large))
              .isInstanceOf(InvalidSettingException.class)
              .hasMessageContaining("must be BIGINT");
          assertThatThrownBy(() -> row.verify(connection, 1, large, 1))
              .isInstanceOf(InvalidSettingException.class);
          connection.rollback();
        }
        for (String column : new String[] {"big", "digits"}) {
          FencedRow row = FencedRow.of("narrow", "id", column);
          row.check(connection, 1, large);
          assertThatThrownBy(() -> row.check(connection, 1, stale))
              .isInstanceOf(StaleTokenException.class);
          connection.rollback();
        }
      }
    }
  }

  private static void refusesOlder(Connection connection, String column, long newer, long older)
      throws SQLException {
    FencedRow row = FencedRow.of("typed", "id", column);
    row.check(connection, 1, FencingToken.exclusive(newer));
    assertThatThrownBy(() -> row.check(connection, 1, FencingToken.exclusive(older)))
        .as("%s after %s in %s", older, newer, column)
        .isInstanceOf(StaleTokenException.class);
    connection.rollback();
  }

  /** In SQLite a column's declared type decides how a token is stored, and how it is compared. */
  @Test
  void columnOfSqliteThatComparesTokensAsText_orRoundsThem_isRefused() throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE typed (id INT PRIMARY KEY, a TEXT, b VARCHAR(40), c nclob, d REAL,"
              + " e double precision, f FLOAT, big BIGINT, large UNSIGNED BIG INT, untyped,"
              + " digits DECIMAL(19), bare BLOB, pointed FLOATING POINT)");
      statement.execute("INSERT INTO typed (id) VALUES (1)");
      connection.setAutoCommit(false);
      for (String column : new String[] {"a", "b", "c", "d", "e", "f"}) {
        FencedRow row = FencedRow.of("typed", "id", column);
        assertThatThrownBy(() -> row.check(connection, 1, FencingToken.exclusive(100_000)))
            .as(column)
            .isInstanceOf(InvalidSettingException.class)
            .hasMessageContaining("must be BIGINT");
        assertThatThrownBy(() -> row.verify(connection, 1, T33, 1))
            .isInstanceOf(InvalidSettingException.class);
        connection.rollback();
      }
      // SQLite looks for "INT" first, and finds one in "POINT".
      for (String column : new String[] {"big", "large", "untyped", "digits", "bare", "pointed"}) {
        refusesOlder(connection, column, 100_000, 99_999);
        refusesOlder(connection, column, (1L << 53) + 1, 1L << 53);
        refusesOlder(connection, column, Long.MAX_VALUE, Long.MAX_VALUE - 1);
      }
    }
  }

  /** A look that begins to read would have the update refused once another one has written. */
  @Test
  void firstCheckInSqlite_beginsWithItsUpdate() throws SQLException {
    String url = "jdbc:sqlite:" + folder.resolve("wal.db") + "?journal_mode=WAL";
    try (Connection ours = DriverManager.getConnection(url);
        Connection other = DriverManager.getConnection(url);
        Statement write = other.createStatement()) {
      write.execute("CREATE TABLE busy (id INT PRIMARY KEY, fence BIGINT)");
      write.execute("INSERT INTO busy (id) VALUES (1)");
      ours.setAutoCommit(false);
      FencedRow row = FencedRow.of("busy", "id", "fence");
      Connection overtaken =
          proxy(
              Connection.class,
              (method, arguments) -> {
                if (method.getName().equals("prepareStatement")
                    && String.valueOf(arguments[0]).startsWith("UPDATE")) {
                  write.execute("UPDATE busy SET fence = 33 WHERE id = 1");
                }
                return method.invoke(ours, arguments);
              });

      row.check(overtaken, 1, T34);
      ours.commit();
    }
  }

  /** Before the check, an older holder that is still at work may commit; after it, none can. */
  @Test
  void whatIsReadAfterTheCheck_hasTheWritesOfAllOlderHolders() throws Exception {
    JdbcFence fence = JdbcFence.create();
    for (DataSource pool : new DataSource[] {onPostgres, onMariaDb}) {
      FencedCell cell = Cell.create(pool, "read-after", fence::check);
      try (Connection older = pool.getConnection();
          Connection newer = pool.getConnection();
          Statement write = older.createStatement();
          Statement read = newer.createStatement()) {
        newer.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        fence.check(older, "read-after", T33);
        write.executeUpdate("UPDATE cells SET content = 'of 33' WHERE id = 'read-after'");
        CompletableFuture<Void> check =
            CompletableFuture.runAsync(() -> fence.check(newer, "read-after", T34));
        older.commit();
        check.get(60, TimeUnit.SECONDS);
        try (ResultSet row =
            read.executeQuery("SELECT content FROM cells WHERE id = 'read-after'")) {
          assertThat(row.next()).isTrue();
          assertThat(row.getString(1)).isEqualTo("of 33");
        }
        newer.commit();
      }
      assertThat(cell.read()).isEqualTo("of 33");
    }
  }

  @Test
  void pruning_forgetsWhatWasNotWrittenForLong_andNothingElse() throws SQLException {
    JdbcFence fence = JdbcFence.create().tablePrefix("pruned");
    for (DataSource pool : pools()) {
      try (Connection connection = pool.getConnection()) {
        fence.createTable(connection);
        fence.check(connection, "old", T33);
        fence.check(connection, "new", T33);
        try (PreparedStatement age =
            connection.prepareStatement(
                "UPDATE pruned_fences SET written_at = written_at - 90000 WHERE resource = ?")) {
          age.setBytes(1, "old".getBytes(StandardCharsets.UTF_8));
          assertThat(age.executeUpdate()).isEqualTo(1);
        }

        assertThat(fence.prune(connection, Duration.ofDays(2))).isZero();
        assertThat(fence.prune(connection, Duration.ofDays(1))).isEqualTo(1);
        connection.commit();

        assertThatThrownBy(() -> fence.check(connection, "new", FencingToken.exclusive(32)))
            .isInstanceOf(StaleTokenException.class);
        connection.rollback();
        assertThatThrownBy(() -> fence.prune(connection, Duration.ofMinutes(1)))
            .isInstanceOf(InvalidSettingException.class);
      }
    }
  }

  @Test
  void checkAddsOneStatement_alsoWhenItRefuses() throws SQLException {
    try (FaultProxy pg = FaultProxy.to(postgres.host(), postgres.port(), Protocol.POSTGRES);
        FaultProxy maria = FaultProxy.to(mariadb.host(), mariadb.port(), Protocol.MYSQL)) {
      countStatements(Urls.of(postgres).replace(postgres.address(), pg.address()), pg);
      countStatements(Urls.of(mariadb).replace(mariadb.address(), maria.address()), maria);
    }
  }

  private static void countStatements(String url, FaultProxy proxy) throws SQLException {
    JdbcFence fence = JdbcFence.create();
    try (Connection connection = DriverManager.getConnection(url)) {
      connection.setAutoCommit(false);
      write(connection);
      connection.commit();
      proxy.resetCounts();
      write(connection);
      connection.commit();
      long without = statements(proxy);

      proxy.resetCounts();
      fence.check(connection, "counted", T34);
      write(connection);
      connection.commit();
      assertThat(statements(proxy)).as("%s", proxy.counts()).isEqualTo(without + 1);

      write(connection); // So that a transaction has begun.
      proxy.resetCounts();
      assertThatThrownBy(() -> fence.check(connection, "counted", T33))
          .isInstanceOf(StaleTokenException.class);
      assertThat(statements(proxy)).as("%s", proxy.counts()).isEqualTo(1);
      connection.rollback();
    }
  }

  private static void write(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate("UPDATE cells SET content = 'x' WHERE id = 'nobody'");
    }
  }

  private static long statements(FaultProxy proxy) {
    return proxy.count("Execute") + proxy.count("Query") + proxy.count("StmtExecute");
  }
}
