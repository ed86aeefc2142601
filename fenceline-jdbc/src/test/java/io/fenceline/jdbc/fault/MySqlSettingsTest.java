package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.sql.MySqlDialect;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import io.fenceline.testkit.ManualTime;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Settings of MySQL, or of a session, that give a statement another meaning than usual. The server
 * itself has all of them that it can be started with.
 */
@NeedsMySql
class MySqlSettingsTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private static MySqlServer server;

  @BeforeAll
  static void start() {
    server =
        MySqlServer.builder()
            .setting("autocommit", "0")
            .setting("default-time-zone", "+09:00")
            .setting("completion-type", "CHAIN")
            .setting("transaction-isolation", "SERIALIZABLE")
            .start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String with(String settings) {
    return Urls.of(server) + "&sessionVariables=" + settings;
  }

  /** All that a client does, short ways and long ones. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "sql_mode=''",
        "sql_mode='ANSI,TRADITIONAL,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE'",
        "sql_mode='NO_UNSIGNED_SUBTRACTION,PAD_CHAR_TO_FULL_LENGTH,TIME_TRUNCATE_FRACTIONAL'",
        "sql_safe_updates=1",
        "sql_select_limit=1",
        "time_zone='-05:00',autocommit=0",
        "transaction_isolation='READ-UNCOMMITTED'"
      })
  void wholeLife_underASetting(String setting) {
    String prefix = "life_" + Integer.toHexString(setting.hashCode());
    StoreContext context =
        new StoreContext(
            new ClientInfo("test", "host", 1), new ManualTime(), new SecureRandom(), LONG, LONG);
    try (LockStore store = JdbcStores.at(with(setting)).tablePrefix(prefix).open(context);
        LockStore other = JdbcStores.at(Urls.of(server)).tablePrefix(prefix).open(context)) {
      Heard alone = new Heard(store, "alone", Mode.EXCLUSIVE, LONG);
      renew(store, alone);
      // What was granted is committed: somebody else sees it, and for how long.
      assertThat(other.inspect("alone").join().holders())
          .singleElement()
          .satisfies(holder -> assertThat(holder.remaining()).isBetween(LONG.dividedBy(2), LONG));
      Heard waits = new Heard(store, "alone", Mode.EXCLUSIVE, LONG);
      assertThat(waits.granted).isEmpty();
      assertThat(other.inspect("alone").join().waiters()).hasSize(1);
      store.withdraw(waits.request).join();
      assertThat(other.inspect("alone").join().waiters()).isEmpty();
      store.release(new ReleaseRequest(alone.grant(), Duration.ZERO)).join();
      assertThat(other.inspect("alone").join().holders()).isEmpty();
      Heard again = new Heard(other, "alone", Mode.EXCLUSIVE, LONG);
      assertThat(again.grant().number()).isGreaterThan(alone.grant().number());
      other.release(new ReleaseRequest(again.grant(), Duration.ZERO)).join();

      List<Heard> permits =
          List.of(permit(store, "three"), permit(store, "three"), permit(store, "three"));
      permits.forEach(permit -> renew(store, permit));
      assertThat(permit(store, "three").granted).as("a fourth of three").isEmpty();
      assertThat(other.inspect("three").join().holders()).hasSize(3);
      assertThat(Heard.inTurn(store, List.of("three", "alone"))).isEmpty();

      Heard kept = new Heard(store, "kept", Mode.EXCLUSIVE, LONG);
      store.release(new ReleaseRequest(kept.grant(), LONG)).join();
      assertThat(new Heard(store, "kept", Mode.EXCLUSIVE, LONG).granted).isEmpty();
      // Changes nothing, and is rolled back.
      assertThat(store.forceRelease("three", 5).join()).isFalse();
      assertThat(store.list("", 10).join()).extracting("name").containsExactly("kept", "three");

      server.sql(
          "UPDATE %s_locks SET ends = 1000, last_number = 5 WHERE name = 'alone'; COMMIT"
              .formatted(prefix));
      assertThat(Heard.clean(store)).isEqualTo(1);
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
      server.sql("UPDATE safe_fences SET written_at = 5; COMMIT");
      assertThat(fence.prune(connection, Duration.ofDays(1))).isEqualTo(1);
      connection.commit();
    }
  }

  @Test
  void connectionThatIsGivenBack_restsForAsLongAsBefore() throws Exception {
    String url = with("wait_timeout=1234");
    try (Connection one = DriverManager.getConnection(url)) {
      MySqlDialect dialect = new MySqlDialect();
      dialect.begin(one);
      assertThat(settings(one)).isEqualTo("1 0");
      dialect.rollback(one);
      assertThat(settings(one)).isEqualTo("1234 1");
      dialect.begin(one);
      dialect.commit(one);
      assertThat(settings(one)).isEqualTo("1234 1");
    }
  }

  private static String settings(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT @@SESSION.wait_timeout, @@SESSION.autocommit")) {
      row.next();
      return row.getString(1) + " " + row.getString(2);
    }
  }

  /** A check must not change what the caller's own inserts have generated. */
  @Test
  void keyThatTheCallerHasGenerated_isStillThere_afterACheck() throws Exception {
    JdbcFence fence = JdbcFence.create().tablePrefix("keys");
    try (Connection connection = DriverManager.getConnection(Urls.of(server));
        Statement statement = connection.createStatement()) {
      fence.createTable(connection);
      statement.execute("CREATE TABLE made (id INT AUTO_INCREMENT PRIMARY KEY, x INT)");
      connection.setAutoCommit(false);
      statement.execute("INSERT INTO made (x) VALUES (1)");
      for (int token : new int[] {33, 34}) {
        fence.check(connection, "ledger", FencingToken.exclusive(token));
        try (PreparedStatement last = connection.prepareStatement("SELECT LAST_INSERT_ID()");
            ResultSet key = last.executeQuery()) {
          key.next();
          assertThat(key.getLong(1)).isEqualTo(1);
        }
      }
      connection.rollback();
    }
  }

  @Test
  void mariaDbsScheme_isNotForMySql() {
    String url = Urls.of(server).replace("jdbc:mysql:", "jdbc:mariadb:");
    assertThatThrownBy(() -> Fenceline.connect(url))
        .hasMessageContaining("the server is MySQL; connect with jdbc:mysql:");
  }
}
