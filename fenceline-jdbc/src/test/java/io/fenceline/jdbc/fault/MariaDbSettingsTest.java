package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.TransactionLock;
import io.fenceline.jdbc.Urls;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testkit.ManualTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings of MariaDB, or of a session, that give a statement another meaning than usual. */
class MariaDbSettingsTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final LockOptions LEASE = LockOptions.defaults().lease(LONG);

  private static MariaDbServer server;

  @BeforeAll
  static void start() {
    server = MariaDbServer.builder().setting("innodb-rollback-on-timeout", "ON").start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String with(String settings) {
    return Urls.of(server) + "&sessionVariables=" + settings;
  }

  @Test
  void commitThatWouldChain_isTheEndOfItsTransaction() {
    try (LockStore chained = Heard.open(with("completion_type='CHAIN'"), new ManualTime());
        LockStore other = Heard.open(Urls.of(server), new ManualTime())) {
      Heard first = new Heard(other, "chained", Mode.EXCLUSIVE, LONG);
      Heard waits = new Heard(chained, "chained", Mode.EXCLUSIVE, LONG); // The long way commits.
      assertThat(waits.waiting).isEqualTo(1);
      Heard granted = new Heard(chained, "after-a-commit", Mode.EXCLUSIVE, LONG);
      assertThat(granted.granted).hasSize(1);
      assertThat(other.inspect("after-a-commit").join().holders()).hasSize(1);

      chained.withdraw(waits.request).join();
      // Changes nothing, and is rolled back.
      assertThat(chained.forceRelease("chained", first.grant().number() + 1).join()).isFalse();
      Heard second = new Heard(chained, "after-a-rollback", Mode.EXCLUSIVE, LONG);
      assertThat(second.granted).hasSize(1);
      assertThat(other.inspect("after-a-rollback").join().holders()).hasSize(1);
    }
  }

  @Test
  void tryAcquire_isRefused_whereALockThatIsTakenWouldUndoTheTransaction() throws Exception {
    try (Fenceline tables = Fenceline.connect(Urls.of(server));
        Connection one = DriverManager.getConnection(Urls.of(server));
        Connection two = DriverManager.getConnection(Urls.of(server));
        Statement statement = two.createStatement()) {
      assertThat(tables.list("ledger", 1)).isEmpty();
      statement.execute("CREATE TABLE written (x INT)");
      one.setAutoCommit(false);
      two.setAutoCommit(false);
      TransactionLock.acquire(one, "ledger");
      statement.execute("INSERT INTO written VALUES (1)");

      assertThatThrownBy(() -> TransactionLock.tryAcquire(two, "ledger"))
          .isInstanceOf(InvalidSettingException.class)
          .hasMessageContaining("innodb_rollback_on_timeout");

      two.commit();
      one.rollback();
      assertThat(server.sql("SELECT count(*) FROM written")).isEqualTo("1");
    }
  }

  /** All that a client does, short ways and long ones. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "sql_mode='EMPTY_STRING_IS_NULL,STRICT_TRANS_TABLES'",
        "sql_mode=''",
        "sql_safe_updates=1",
        "sql_select_limit=1"
      })
  void wholeLife_underASetting(String setting) throws Exception {
    String prefix = "life_" + Integer.toHexString(setting.hashCode());
    StoreContext context =
        new StoreContext(
            new ClientInfo("test", "host", 1), new ManualTime(), new SecureRandom(), LONG, LONG);
    try (LockStore store = JdbcStores.at(with(setting)).tablePrefix(prefix).open(context)) {
      Heard alone = new Heard(store, "alone", Mode.EXCLUSIVE, LONG);
      renew(store, alone);
      Heard waits = new Heard(store, "alone", Mode.EXCLUSIVE, LONG);
      assertThat(waits.granted).isEmpty();
      store.release(new ReleaseRequest(alone.grant(), Duration.ZERO)).join();
      store.withdraw(waits.request).join();

      List<Heard> permits =
          List.of(permit(store, "three"), permit(store, "three"), permit(store, "three"));
      permits.forEach(permit -> renew(store, permit));
      assertThat(permit(store, "three").granted).as("a fourth of three").isEmpty();
      assertThat(store.inspect("three").join().holders()).hasSize(3);
      assertThat(Heard.inTurn(store, List.of("three", "alone"))).isEmpty();

      Heard kept = new Heard(store, "kept", Mode.EXCLUSIVE, LONG);
      store.release(new ReleaseRequest(kept.grant(), LONG)).join();
      assertThat(new Heard(store, "kept", Mode.EXCLUSIVE, LONG).granted).isEmpty();
      assertThat(store.list("", 10).join()).extracting("name").containsExactly("kept", "three");
      assertThat(store.list("th", 10).join()).extracting("name").containsExactly("three");

      server.sql("UPDATE " + prefix + "_locks SET ends = 1000 WHERE name = 'alone'");
      server.sql("UPDATE " + prefix + "_locks SET last_number = 5 WHERE name = 'alone'");
      assertThat(Heard.clean(store)).isEqualTo(1);
    }
    plantedTrigger(setting, prefix);
  }

  private static void plantedTrigger(String setting, String prefix) {
    server.sql(
        "CREATE TRIGGER %1$s BEFORE UPDATE ON %1$s_locks FOR EACH ROW SET NEW.tail = 1"
            .formatted(prefix));
    server.sql("CREATE VIEW %1$s_v_format AS SELECT 2 AS version".formatted(prefix));
    for (String tables : List.of(prefix, prefix + "_v")) {
      assertThatThrownBy(
              () ->
                  Fenceline.builder()
                      .store(JdbcStores.at(with(setting)).tablePrefix(tables))
                      .connect())
          .hasMessageContaining("the tables may have been tampered with");
    }
  }

  private static Heard permit(LockStore store, String name) {
    return new Heard(store, name, Mode.permits(1, 3), LONG);
  }

  private static void renew(LockStore store, Heard heard) {
    assertThat(store.renew(List.of(new RenewRequest(heard.grant(), LONG))).get(0).join())
        .isInstanceOf(Renewal.Renewed.class);
  }

  @Test
  void pruning_worksWithSafeUpdates() throws Exception {
    JdbcFence fence = JdbcFence.create().tablePrefix("safe");
    try (Connection connection = DriverManager.getConnection(with("sql_safe_updates=1"))) {
      fence.createTable(connection);
      connection.setAutoCommit(false);
      fence.check(connection, "old", FencingToken.exclusive(33));
      connection.commit();
      server.sql("UPDATE safe_fences SET written_at = 5");
      assertThat(fence.prune(connection, Duration.ofDays(1))).isEqualTo(1);
      connection.commit();
    }
  }

  /** Claims are read by a statement that began, by its clock, half a minute ago. */
  private static DataSource slowToRead() {
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          Connection connection = DriverManager.getConnection(Urls.of(server));
          return proxy(
              Connection.class,
              (name, values) -> {
                if (name.getName().equals("prepareStatement")) {
                  boolean isReading = ((String) values[0]).contains("AS t\nLEFT JOIN");
                  setClock(connection, isReading ? "UNIX_TIMESTAMP(SYSDATE(6)) - 30" : "DEFAULT");
                }
                return name.invoke(connection, values);
              });
        });
  }

  private static void setClock(Connection connection, String to) throws SQLException {
    try (PreparedStatement set = connection.prepareStatement("SET timestamp = " + to)) {
      set.execute();
    }
  }

  @FunctionalInterface
  private interface Answering {
    Object answer(java.lang.reflect.Method method, Object[] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Answering answering) {
    return type.cast(
        Proxy.newProxyInstance(
            MariaDbSettingsTest.class.getClassLoader(),
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
  void readingThatStoodStill_doesNotShortenWhatWasRenewedMeanwhile() {
    try (Fenceline holder =
            Fenceline.builder().store(Urls.of(server)).defaultOptions(LEASE).connect();
        Fenceline slow =
            Fenceline.builder()
                .store(JdbcStores.from(slowToRead()))
                .defaultOptions(LEASE)
                .connect()) {
      Hold inRow = holder.readWriteLock("stood-still").readLock().tryAcquire().orElseThrow();
      Hold beside = holder.readWriteLock("stood-still").readLock().tryAcquire().orElseThrow();

      assertThat(slow.lock("stood-still").tryAcquire()).isEmpty();

      assertThat(holder.inspect("stood-still").holders())
          .hasSize(2)
          .allSatisfy(
              one -> assertThat(one.remaining()).isGreaterThan(LONG.minus(Duration.ofSeconds(25))));
      assertThat(inRow.release()).isEqualTo(ReleaseOutcome.RELEASED);
      assertThat(beside.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }
  }
}
