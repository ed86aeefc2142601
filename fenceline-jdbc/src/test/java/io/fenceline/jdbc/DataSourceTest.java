package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.event.LockListener;
import io.fenceline.event.StoreFailed;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Data sources that users hand in, and locks inside their transactions. */
@Isolated
class DataSourceTest {
  private static final Duration BOUND = Duration.ofSeconds(60);

  private static final LockOptions FIXED =
      LockOptions.defaults().fixedLease(Duration.ofSeconds(30));

  private static PostgresServer postgres;
  private static MariaDbServer mariadb;

  @BeforeAll
  static void start() {
    postgres = PostgresServer.builder().fsync(false).start();
    mariadb = MariaDbServer.start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
    mariadb.close();
  }

  private static HikariDataSource pool(int size, boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(Urls.of(postgres));
    config.setMaximumPoolSize(size);
    config.setAutoCommit(autoCommit);
    config.setConnectionTimeout(500);
    return new HikariDataSource(config);
  }

  private static Fenceline connect(DataSource dataSource) {
    return Fenceline.builder().store(JdbcStores.from(dataSource)).connect();
  }

  /** A data source made of one method. */
  private static DataSource dataSource(Opening opening) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSourceTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) ->
                method.getName().equals("getConnection") ? opening.open() : proxy.toString());
  }

  @FunctionalInterface
  private interface Opening {
    Connection open() throws SQLException;
  }

  private static void waitAndHandOver(Fenceline one, Fenceline two, String name) throws Exception {
    Hold hold = one.lock(name, FIXED).tryAcquire().orElseThrow();
    CompletableFuture<Hold> waiting = two.lock(name).acquireAsync(BOUND);
    Eventually.until(BOUND, "the queue", () -> one.inspect(name).waiters().size() == 1);
    hold.extend(Duration.ofSeconds(30));
    hold.close();
    Hold next = waiting.get();
    assertThat(next.token()).isGreaterThan(hold.token());
    next.close();
  }

  @Test
  void poolOfOne_isEnough() throws Exception {
    try (HikariDataSource pool = pool(1, true);
        Fenceline one = connect(pool);
        Fenceline two = connect(pool)) {
      waitAndHandOver(one, two, "pool-of-one");
    }
  }

  @Test
  void anotherConnectionForEachTransaction_isFine() throws Exception {
    AtomicInteger opened = new AtomicInteger();
    DataSource fresh =
        dataSource(
            () -> {
              opened.incrementAndGet();
              return DriverManager.getConnection(Urls.of(postgres));
            });
    try (Fenceline one = connect(fresh);
        Fenceline two = connect(fresh)) {
      waitAndHandOver(one, two, "fresh");
      assertThat(opened.get()).isGreaterThan(8);
    }
  }

  /** What a driver may throw when memory is short, or an application is being redeployed. */
  @Test
  void errorInTheDriver_isTheClaimsAnswer_andTheNameGoesOn() throws Exception {
    AtomicBoolean breaks = new AtomicBoolean();
    DataSource fresh =
        dataSource(
            () -> {
              if (breaks.getAndSet(false)) {
                throw new NoClassDefFoundError("planted");
              }
              return DriverManager.getConnection(Urls.of(postgres));
            });
    try (Fenceline client = connect(fresh)) {
      breaks.set(true);
      // Not that nothing was answered in time: whoever withdraws it would wait for an answer, too.
      assertThatThrownBy(() -> client.lock("error").tryAcquire())
          .satisfies(failure -> assertThat(failure).hasRootCauseMessage("planted"));
      client.lock("error").tryAcquire(BOUND).orElseThrow().close();
    }
  }

  /** A transaction that has begun although what began it failed is not left in the pool. */
  @Test
  void beginThatFailsAfterItHasBegun_isRolledBack() throws Exception {
    Set<String> breaks = ConcurrentHashMap.newKeySet();
    List<Boolean> returned = new CopyOnWriteArrayList<>();
    DataSource pool =
        dataSource(
            () ->
                failingOnce(
                    noticing(DriverManager.getConnection(Urls.of(mariadb)), returned), breaks));
    try (Fenceline client = connect(pool)) {
      Hold inTheWay = client.lock("begun", FIXED).tryAcquire().orElseThrow();
      breaks.add("START TRANSACTION");
      CompletableFuture<Hold> waiting = client.lock("begun", FIXED).acquireAsync(BOUND);
      Eventually.until(BOUND, "the planted failure", breaks::isEmpty);
      inTheWay.close();
      waiting.get().close();
    }
    assertThat(returned).as("in a transaction").isNotEmpty().doesNotContain(true);
  }

  /** A connection that notes, when it goes back, whether a transaction is open. */
  private static Connection noticing(Connection connection, List<Boolean> inTransaction) {
    return (Connection)
        Proxy.newProxyInstance(
            DataSourceTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                try (Statement asked = connection.createStatement();
                    ResultSet found = asked.executeQuery("SELECT @@in_transaction")) {
                  found.next();
                  inTransaction.add(found.getBoolean(1));
                }
              }
              return passed(method, connection, arguments);
            });
  }

  /** Nor is a connection that can't be rolled back used again: its transaction may go on. */
  @Test
  void connectionWhoseRollbackFails_isEnded() throws Exception {
    Set<String> breaks = ConcurrentHashMap.newKeySet();
    List<Connection> opened = new CopyOnWriteArrayList<>();
    DataSource pool =
        dataSource(
            () -> {
              Connection one = DriverManager.getConnection(Urls.of(mariadb));
              opened.add(one);
              return failingOnce(unclosable(one), breaks);
            });
    try (Fenceline client = connect(pool)) {
      Hold inTheWay = client.lock("unended", FIXED).tryAcquire().orElseThrow();
      breaks.addAll(List.of("START TRANSACTION", "ROLLBACK AND NO CHAIN NO RELEASE"));
      CompletableFuture<Hold> waiting = client.lock("unended", FIXED).acquireAsync(BOUND);
      Eventually.until(BOUND, "the planted failures", breaks::isEmpty);
      Eventually.until(BOUND, "the connection to end", () -> closed(opened) == 1);
      inTheWay.close();
      waiting.get().close();
    } finally {
      for (Connection one : opened) {
        one.close();
      }
    }
  }

  private static long closed(List<Connection> connections) throws SQLException {
    long count = 0;
    for (Connection one : connections) {
      count += one.isClosed() ? 1 : 0;
    }
    return count;
  }

  /** A connection on which each of these statements fails once, after it was done. */
  private static Connection failingOnce(Connection connection, Set<String> breaks) {
    return (Connection)
        Proxy.newProxyInstance(
            DataSourceTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              Object answer = passed(method, connection, arguments);
              return method.getName().equals("createStatement")
                  ? failingOnce((Statement) answer, breaks)
                  : answer;
            });
  }

  private static Statement failingOnce(Statement statement, Set<String> breaks) {
    return (Statement)
        Proxy.newProxyInstance(
            DataSourceTest.class.getClassLoader(),
            new Class<?>[] {Statement.class},
            (proxy, method, arguments) -> {
              Object answer = passed(method, statement, arguments);
              if (method.getName().equals("execute")
                  && breaks.remove(String.valueOf(arguments[0]))) {
                throw new IllegalStateException("planted: of a listener around the driver");
              }
              return answer;
            });
  }

  private static Object passed(java.lang.reflect.Method method, Object to, Object[] arguments)
      throws Throwable {
    try {
      return method.invoke(to, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Test
  void poolThatDoesNotCommitByItself_isFine() throws Exception {
    try (HikariDataSource pool = pool(4, false);
        Fenceline one = connect(pool);
        Fenceline two = connect(pool)) {
      waitAndHandOver(one, two, "no-auto-commit");
    }
  }

  @Test
  void callersTransaction_isNeitherJoinedNorCommitted() throws Exception {
    postgres.sql("CREATE TABLE guarded (x int)");
    ThreadLocal<Connection> bound = new ThreadLocal<>();
    DataSource binding =
        dataSource(
            () ->
                bound.get() != null
                    ? unclosable(bound.get())
                    : DriverManager.getConnection(Urls.of(postgres)));
    try (Fenceline fenceline = connect(binding);
        Connection mine = DriverManager.getConnection(Urls.of(postgres));
        Statement statement = mine.createStatement()) {
      mine.setAutoCommit(false);
      statement.execute("INSERT INTO guarded VALUES (1)");
      bound.set(mine);

      Hold hold = fenceline.lock("guarded").tryAcquire().orElseThrow();

      bound.remove();
      assertThat(postgres.sql("SELECT count(*) FROM guarded")).isEqualTo("0");
      mine.rollback();
      assertThat(fenceline.inspect("guarded").holders()).hasSize(1);
      hold.close();
    }
  }

  @Test
  void callersTransaction_isNotInheritedByOurThreads() throws Exception {
    postgres.sql("CREATE TABLE inherited (x int)");
    InheritableThreadLocal<Connection> bound = new InheritableThreadLocal<>();
    DataSource binding =
        dataSource(
            () ->
                bound.get() != null
                    ? unclosable(bound.get())
                    : DriverManager.getConnection(Urls.of(postgres)));
    try (Connection mine = DriverManager.getConnection(Urls.of(postgres));
        Statement statement = mine.createStatement()) {
      mine.setAutoCommit(false);
      statement.execute("INSERT INTO inherited VALUES (1)");
      bound.set(mine);
      try (Fenceline fenceline = connect(binding)) {
        Hold hold = fenceline.lock("inherited").tryAcquire().orElseThrow();

        assertThat(postgres.sql("SELECT count(*) FROM inherited")).isEqualTo("0");
        assertThat(
                postgres.sql(
                    "SELECT count(*) FROM fenceline_locks"
                        + " WHERE name = 'inherited' AND owner IS NOT NULL"))
            .isEqualTo("1");
        hold.close();
      } finally {
        bound.remove();
      }
      mine.rollback();
      assertThat(postgres.sql("SELECT count(*) FROM inherited")).isEqualTo("0");
    }
  }

  private static Connection unclosable(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            DataSourceTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                return null;
              }
              try {
                return method.invoke(connection, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void exhaustedPool_isNamedByTheRenewalThatFails() throws Exception {
    List<String> failures = new CopyOnWriteArrayList<>();
    LockListener listener =
        new LockListener() {
          @Override
          public void onStoreFailed(StoreFailed failed) {
            if (failed.operation().equals("renew")) {
              failures.add(failed.cause().getMessage());
            }
          }
        };
    try (HikariDataSource pool = pool(1, true);
        Fenceline fenceline =
            Fenceline.builder()
                .store(JdbcStores.from(pool))
                .listener(listener)
                .defaultOptions(LockOptions.defaults().lease(Duration.ofSeconds(3)))
                .connect()) {
      Hold hold = fenceline.lock("exhausted").tryAcquire().orElseThrow();
      try (Connection all = pool.getConnection()) {
        assertThat(all.isValid(1)).isTrue();
        Eventually.until(BOUND, "a renewal to fail", () -> !failures.isEmpty());
      }
      assertThat(failures.get(0))
          .contains("the data source gave no connection in time")
          .contains("give renewals a data source of their own");
      hold.close();
    }
  }

  /** All connections of a pool of two are in use for three leases. */
  private static Hold holdWhileThePoolIsExhausted(String name, boolean ownRenewals)
      throws Exception {
    Duration lease = Duration.ofSeconds(4);
    try (HikariDataSource pool = pool(2, true);
        HikariDataSource own = pool(1, true);
        Fenceline fenceline =
            Fenceline.builder()
                .store(ownRenewals ? JdbcStores.from(pool).renewals(own) : JdbcStores.from(pool))
                .defaultOptions(LockOptions.defaults().lease(lease))
                .connect()) {
      Hold hold = fenceline.lock(name).tryAcquire().orElseThrow();
      try (Connection one = pool.getConnection();
          Connection two = pool.getConnection()) {
        assertThat(one.isValid(1) && two.isValid(1)).isTrue();
        long start = System.nanoTime();
        Eventually.until(
            BOUND,
            "three leases to pass",
            () -> System.nanoTime() - start > lease.multipliedBy(3).toNanos());
        assertThat(hold.isValid()).isEqualTo(ownRenewals);
      }
      hold.close();
      return hold;
    }
  }

  @Test
  void renewals_goOnWithADataSourceOfTheirOwn_whenThePoolIsExhausted() throws Exception {
    Hold hold = holdWhileThePoolIsExhausted("own-renewals", true);
    assertThat(hold.lost()).isNotDone();
  }

  @Test
  void exhaustedPool_withoutADataSourceForRenewals_isALossThatIsTold() throws Exception {
    Hold hold = holdWhileThePoolIsExhausted("no-renewals", false);
    assertThat(hold.lost()).isDone();
  }

  @Test
  void waiterThatListensOnADataSourceOfItsOwn_isToldBeforeItLooks() throws Exception {
    try (HikariDataSource pool = pool(2, true);
        HikariDataSource own = pool(2, true);
        Fenceline holder = Fenceline.builder().store(JdbcStores.from(pool)).connect();
        Fenceline waiter =
            Fenceline.builder()
                .store(
                    JdbcStores.from(pool)
                        .renewals(own)
                        .listening(own)
                        .polling(Duration.ofMinutes(10), Duration.ofMinutes(10)))
                .connect()) {
      for (int turn = 0; turn < 3; turn++) {
        Hold held = holder.lock("listened").acquire(BOUND);
        CompletableFuture<Hold> waiting = waiter.lock("listened").acquireAsync(BOUND);
        Eventually.until(BOUND, "it waits", () -> !holder.inspect("listened").waiters().isEmpty());
        held.close();
        waiting.get(BOUND.toSeconds(), TimeUnit.SECONDS).close();
      }
    }
  }

  /**
   * One physical connection that is handed out again and again, and never looked after.
   *
   * @param returned whether it commits by itself, each time that it comes back after a failed
   *     commit
   */
  private static DataSource carelessPool(Connection only, List<Boolean> returned) {
    return dataSource(
        () -> {
          AtomicBoolean failed = new AtomicBoolean();
          return (Connection)
              Proxy.newProxyInstance(
                  DataSourceTest.class.getClassLoader(),
                  new Class<?>[] {Connection.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                      if (failed.get()) {
                        returned.add(only.getAutoCommit());
                      }
                      return null;
                    }
                    try {
                      return method.invoke(only, arguments);
                    } catch (InvocationTargetException e) {
                      failed.compareAndSet(false, method.getName().equals("commit"));
                      throw e.getCause();
                    }
                  });
        });
  }

  @Test
  void commitThatFails_isRolledBack_andTheConnectionGoesBackAsItCame() throws Exception {
    List<Boolean> returned = new CopyOnWriteArrayList<>();
    try (Connection only = DriverManager.getConnection(Urls.of(postgres));
        Fenceline holder =
            Fenceline.builder()
                .store(JdbcStores.at(Urls.of(postgres)).tablePrefix("commits"))
                .connect();
        Fenceline fenceline =
            Fenceline.builder()
                .store(JdbcStores.from(carelessPool(only, returned)).tablePrefix("commits"))
                .connect()) {
      assertThat(holder.readWriteLock("commit").readLock().tryAcquire()).isPresent();
      postgres.sql(
          "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
              + " $$ BEGIN RAISE EXCEPTION 'no commit today'; END $$;"
              + "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON commits_claims"
              + " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()");

      // A second reader is a row of its own, which the trigger refuses when all is done.
      assertThatThrownBy(() -> fenceline.readWriteLock("commit").readLock().tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("no commit today");

      assertThat(returned).as("commits by itself again").isNotEmpty().doesNotContain(false);
      // What may have come of the claim is undone meanwhile, on the same connection.
      Eventually.until(BOUND, "one holder", () -> holder.inspect("commit").holders().size() == 1);
    }
  }

  // Locks inside a transaction. ------------------------------------------------------------------

  @Test
  void transactionLock_endsWithTheTransaction() throws Exception {
    try (Fenceline created = Fenceline.connect(Urls.of(mariadb))) {
      assertThat(created.list("", 1)).isEmpty();
    }
    for (String url : List.of(Urls.of(postgres), Urls.of(mariadb))) {
      try (Connection one = DriverManager.getConnection(url);
          Connection two = DriverManager.getConnection(url)) {
        assertThatThrownBy(() -> TransactionLock.acquire(one, "ledger"))
            .hasMessageContaining("the lock ends with the transaction");
        one.setAutoCommit(false);
        two.setAutoCommit(false);
        TransactionLock.acquire(one, "ledger");
        assertThat(TransactionLock.tryAcquire(two, "ledger")).isFalse();
        assertThat(TransactionLock.tryAcquire(two, "LEDGER")).isTrue();
        CompletableFuture<Void> waiting =
            CompletableFuture.runAsync(() -> TransactionLock.acquire(two, "ledger"));
        one.rollback();
        waiting.get();
        assertThat(TransactionLock.tryAcquire(one, "ledger")).isFalse();
        two.commit();
        assertThat(TransactionLock.tryAcquire(one, "ledger")).isTrue();
        one.rollback();
      }
    }
  }

  /** Reads the last invoice after the lock was taken, and adds the next one. */
  private static int issue(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      int last;
      try (ResultSet row = statement.executeQuery("SELECT max(number) FROM invoices")) {
        row.next();
        last = row.getInt(1);
      }
      statement.execute("INSERT INTO invoices (number) VALUES (" + (last + 1) + ")");
      return last + 1;
    }
  }

  private static void prepareInvoices(Connection connection, int isolation) throws SQLException {
    connection.setAutoCommit(true);
    connection.setTransactionIsolation(isolation);
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS invoices (number INT)");
    }
    connection.setAutoCommit(false);
  }

  @Test
  void transactionLock_ofPostgres_refusesALevelWhoseSnapshotIsOlderThanTheLock() throws Exception {
    for (int level :
        List.of(Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE)) {
      try (Connection one = DriverManager.getConnection(Urls.of(postgres));
          Connection two = DriverManager.getConnection(Urls.of(postgres))) {
        prepareInvoices(one, Connection.TRANSACTION_READ_COMMITTED);
        prepareInvoices(two, level);
        TransactionLock.acquire(one, "invoices");
        // Refused at once, though someone holds the lock: waiting is what makes it wrong.
        assertThatThrownBy(() -> TransactionLock.acquire(two, "invoices"))
            .isInstanceOf(InvalidSettingException.class)
            .hasMessageContaining("READ COMMITTED");
        two.rollback();
        assertThatThrownBy(() -> TransactionLock.tryAcquire(two, "others"))
            .isInstanceOf(InvalidSettingException.class);
        two.rollback();
        one.commit();
      }
    }
  }

  @Test
  void transactionLock_issuesEachNumberOnce_atEveryLevelThatIsTaken() throws Exception {
    try (Fenceline created = Fenceline.connect(Urls.of(mariadb))) {
      assertThat(created.list("", 1)).isEmpty();
    }
    issueTwice(Urls.of(postgres), Connection.TRANSACTION_READ_COMMITTED);
    issueTwice(Urls.of(mariadb), Connection.TRANSACTION_READ_COMMITTED);
    issueTwice(Urls.of(mariadb), Connection.TRANSACTION_REPEATABLE_READ);
    issueTwice(Urls.of(mariadb), Connection.TRANSACTION_SERIALIZABLE);
  }

  private static void issueTwice(String url, int level) throws Exception {
    try (Connection one = DriverManager.getConnection(url);
        Connection two = DriverManager.getConnection(url)) {
      prepareInvoices(one, level);
      prepareInvoices(two, level);
      TransactionLock.acquire(one, "invoices");
      int first = issue(one);
      CompletableFuture<Void> waiting =
          CompletableFuture.runAsync(() -> TransactionLock.acquire(two, "invoices"));
      one.commit();
      waiting.get();
      assertThat(issue(two)).isEqualTo(first + 1);
      two.commit();
    }
  }

  @Test
  void transactionLock_ofMariaDb_refusesASnapshotThatIsOlderThanTheLock() throws Exception {
    try (Fenceline created = Fenceline.connect(Urls.of(mariadb));
        Connection one = DriverManager.getConnection(Urls.of(mariadb));
        Connection two = DriverManager.getConnection(Urls.of(mariadb))) {
      assertThat(created.list("", 1)).isEmpty();
      prepareInvoices(one, Connection.TRANSACTION_REPEATABLE_READ);
      prepareInvoices(two, Connection.TRANSACTION_REPEATABLE_READ);
      try (Statement early = two.createStatement()) {
        early.executeQuery("SELECT max(number) FROM invoices").close(); // Its snapshot.
      }
      TransactionLock.acquire(one, "early");
      issue(one);
      one.commit();

      assertThatThrownBy(() -> TransactionLock.acquire(two, "early"))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("before it had the lock");
      two.rollback();
      TransactionLock.acquire(two, "early");
      two.rollback();
    }
  }

  // Tables. --------------------------------------------------------------------------------------

  @Test
  void tablesThatADbaCreated_areUsed_whereverTheyAre() throws Exception {
    JdbcStores store =
        JdbcStores.at(Urls.of(postgres)).inSchema("infra").tablePrefix("l2").createTables(false);
    assertThatThrownBy(() -> Fenceline.builder().store(store).connect())
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("create them with the statements of JdbcStores.schema()");
    postgres.sql("CREATE SCHEMA infra;" + store.schema(Database.POSTGRESQL));
    try (Fenceline fenceline = Fenceline.builder().store(store).connect()) {
      fenceline.lock("x").tryAcquire().orElseThrow().close();
    }
    assertThat(postgres.sql("SELECT count(*) FROM infra.l2_locks")).isEqualTo("1");
    postgres.sql("UPDATE infra.l2_format SET version = 7");
    assertThatThrownBy(() -> Fenceline.builder().store(store).connect())
        .hasMessageContaining("the tables have format 7");
  }

  @Test
  void namesOfTables_areCheckedStrictly() {
    for (String bad : List.of("", "1a", "a b", "a;drop", "a\"", "é", "A", "a.b", "x".repeat(41))) {
      assertThatThrownBy(() -> JdbcStores.at(Urls.of(postgres)).tablePrefix(bad))
          .hasMessageContaining("a-z, 0-9 and _");
    }
  }

  @Test
  void grantOfMariaDb_isTakenByOneStatement() throws Exception {
    try (Fenceline fenceline = Fenceline.connect(Urls.of(mariadb));
        Connection watch = DriverManager.getConnection(Urls.of(mariadb))) {
      fenceline.lock("warm").tryAcquire().orElseThrow().close();
      long fewest = Long.MAX_VALUE;
      for (int i = 0; i < 5; i++) { // The pool may ask something of its own meanwhile.
        long before = questions(watch);
        fenceline.lock("one").tryAcquire().orElseThrow().close();
        // The second question is one of those that are counted.
        fewest = Math.min(fewest, questions(watch) - before - 1);
      }
      assertThat(fewest).isEqualTo(2);
    }
  }

  private static long questions(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW GLOBAL STATUS LIKE 'Questions'")) {
      row.next();
      return row.getLong(2);
    }
  }

  @Test
  void diagnosis_saysWhatAServerForgets() {
    try (Fenceline one = Fenceline.connect(Urls.of(postgres));
        Fenceline two = Fenceline.connect(Urls.of(mariadb))) {
      assertThat(one.diagnose())
          .filteredOn(finding -> finding.severity() == Finding.Severity.SERIOUS)
          .extracting(Finding::check)
          .containsExactly("fsync"); // as this test has started it
      assertThat(two.diagnose())
          .extracting(Finding::check, Finding::severity)
          .containsExactly(
              tuple("version", Finding.Severity.OK),
              tuple("innodb_flush_log_at_trx_commit", Finding.Severity.OK),
              tuple("innodb_doublewrite", Finding.Severity.OK),
              tuple("sync_binlog", Finding.Severity.OK),
              tuple("engine", Finding.Severity.OK),
              tuple("rights", Finding.Severity.OK));
    }
  }
}
