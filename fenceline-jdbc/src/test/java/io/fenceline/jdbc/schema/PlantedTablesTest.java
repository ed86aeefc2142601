package io.fenceline.jdbc.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StoreRefusedException;
import io.fenceline.jdbc.Database;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.Urls;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables that somebody else has made ready for us, with more in them than we want. */
class PlantedTablesTest {
  private static PostgresServer postgres;
  private static String asApp;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    postgres = PostgresServer.builder().fsync(false).start();
    postgres.sql(
        "CREATE ROLE app LOGIN PASSWORD 'app-secret';"
            + "CREATE ROLE evil LOGIN PASSWORD 'evil-secret';"
            + "CREATE ROLE migrations; CREATE TABLE canary (who text);"
            + "GRANT CREATE ON SCHEMA public TO app, evil; GRANT ALL ON canary TO app");
    asApp = postgres.jdbcUrl() + "?user=app&password=app-secret";
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  private static JdbcStores store(String prefix) {
    return JdbcStores.at(asApp).tablePrefix(prefix);
  }

  private static void use(JdbcStores store) {
    try (Fenceline fenceline = Fenceline.builder().store(store).connect()) {
      fenceline.lock("ledger").tryAcquire().orElseThrow().release();
    }
  }

  /** Makes the tables as a role, for all to use. */
  private static void plant(String role, String prefix) {
    postgres.sql(
        "SET ROLE "
            + role
            + ";"
            + store(prefix).schema(Database.POSTGRESQL)
            + "GRANT ALL ON %1$s_locks, %1$s_claims, %1$s_format TO PUBLIC".formatted(prefix));
  }

  @Test
  void tablesOfAStranger_areRefused_beforeAnythingOfThemRuns() {
    plant("evil", "planted");
    postgres.sql(
        "SET ROLE evil; CREATE FUNCTION steal() RETURNS trigger LANGUAGE plpgsql AS"
            + " $$ BEGIN INSERT INTO canary VALUES (current_user); RETURN NEW; END $$;"
            + "CREATE TRIGGER steal BEFORE INSERT OR UPDATE ON planted_locks FOR EACH STATEMENT"
            + " EXECUTE FUNCTION steal()");

    assertThatThrownBy(() -> use(store("planted")))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("planted_locks belongs to evil")
        .hasMessageContaining("has the trigger steal");
    assertThat(postgres.sql("SELECT count(*) FROM canary")).isEqualTo("0");
  }

  @Test
  void fenceInATableOfAStranger_isRefused_beforeAnythingOfItRuns() throws Exception {
    JdbcFence fence = JdbcFence.create().tablePrefix("fenced");
    postgres.sql(
        "SET ROLE evil;"
            + fence.schema(Database.POSTGRESQL)
            + "CREATE FUNCTION peep() RETURNS trigger LANGUAGE plpgsql AS"
            + " $$ BEGIN INSERT INTO canary VALUES (current_user); RETURN NEW; END $$;"
            + "CREATE TRIGGER peep BEFORE INSERT OR UPDATE ON fenced_fences FOR EACH STATEMENT"
            + " EXECUTE FUNCTION peep(); GRANT ALL ON fenced_fences TO PUBLIC");
    try (Connection app = DriverManager.getConnection(asApp)) {
      assertThatThrownBy(() -> fence.createTable(app))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("fenced_fences belongs to evil")
          .hasMessageContaining("has the trigger peep");
      assertThat(postgres.sql("SELECT count(*) FROM canary")).isEqualTo("0");

      postgres.sql("DROP TRIGGER peep ON fenced_fences");
      assertThatThrownBy(() -> fence.createTable(app)).hasMessageContaining("belongs to evil");
      fence.tableOwnedBy("evil").createTable(app);
      JdbcFence own = JdbcFence.create().tablePrefix("mine");
      own.createTable(app);
      own.createTable(app);
    }
  }

  @Test
  void viewInThePlaceOfATable_isRefused_beforeItIsRead() {
    postgres.sql(
        "SET ROLE evil; CREATE FUNCTION peek() RETURNS integer LANGUAGE plpgsql AS"
            + " $$ BEGIN INSERT INTO canary VALUES (current_user); RETURN 2; END $$;"
            + "CREATE VIEW viewed_format AS SELECT peek() AS version;"
            + "GRANT SELECT ON viewed_format TO PUBLIC");

    assertThatThrownBy(() -> use(store("viewed")))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("viewed_format is not a table");
    assertThat(postgres.sql("SELECT count(*) FROM canary")).isEqualTo("0");
  }

  @Test
  void triggerOrRuleOnOurOwnTables_isRefused() {
    use(store("own"));
    use(store("own"));
    postgres.sql("CREATE RULE hidden AS ON DELETE TO own_claims DO INSTEAD NOTHING");

    assertThatThrownBy(() -> use(store("own"))).hasMessageContaining("has the rule hidden");
  }

  @Test
  void tablesOfARoleThatWeWereTold_areFine() {
    postgres.sql("GRANT CREATE ON SCHEMA public TO migrations");
    plant("migrations", "migrated");

    assertThatThrownBy(() -> use(store("migrated"))).hasMessageContaining("belongs to migrations");
    use(store("migrated").tablesOwnedBy("migrations"));
    postgres.sql("GRANT migrations TO app");
    use(store("migrated"));
  }

  @Test
  void tablesOfASuperuser_areFine() {
    postgres.sql(
        store("supers").schema(Database.POSTGRESQL)
            + "GRANT ALL ON supers_locks, supers_claims, supers_format TO app");
    use(store("supers"));
  }

  @Test
  void triggersAndViewsInMariaDb_areRefused() {
    try (MariaDbServer mariadb = MariaDbServer.start()) {
      JdbcStores store = JdbcStores.at(Urls.of(mariadb));
      use(store);
      mariadb.sql(
          "CREATE TRIGGER steal BEFORE UPDATE ON fenceline_locks FOR EACH ROW"
              + " SET NEW.last_number = 1");
      assertThatThrownBy(() -> use(store))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("fenceline_locks has the trigger steal");
      mariadb.sql("CREATE VIEW viewed_format AS SELECT 2 AS version");
      assertThatThrownBy(() -> use(JdbcStores.at(Urls.of(mariadb)).tablePrefix("viewed")))
          .hasMessageContaining("viewed_format is not a table");
    }
  }

  @Test
  void triggerInAFile_isRefused() throws Exception {
    JdbcStores store = JdbcStores.sqlite(folder.resolve("locks.db"));
    use(store);
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locks.db"));
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TRIGGER steal AFTER UPDATE ON fenceline_locks BEGIN"
              + " DELETE FROM fenceline_claims; END");
    }
    assertThatThrownBy(() -> use(store)).hasMessageContaining("has the trigger steal");
  }

  @Test
  void triggerOnLocksOfTransactions_isRefused() throws Exception {
    JdbcStores store = JdbcStores.sqlite(folder.resolve("turns.db"));
    use(store);
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("turns.db"));
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TRIGGER steal AFTER INSERT ON fenceline_transaction_locks BEGIN"
              + " DELETE FROM fenceline_claims; END");
    }
    assertThatThrownBy(() -> use(store))
        .hasMessageContaining("fenceline_transaction_locks has the trigger steal");
  }

  @Test
  void triggerOnAFence_isRefused() throws Exception {
    try (MariaDbServer mariadb = MariaDbServer.start();
        Connection inMariaDb = DriverManager.getConnection(Urls.of(mariadb));
        Connection inAFile =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("fences.db"))) {
      for (Connection connection : List.of(inMariaDb, inAFile)) {
        JdbcFence fence = JdbcFence.create();
        fence.createTable(connection);
        fence.createTable(connection);
        try (Statement statement = connection.createStatement()) {
          statement.execute(
              "CREATE TRIGGER steal AFTER UPDATE ON fenceline_fences FOR EACH ROW BEGIN"
                  + " DELETE FROM fenceline_other; END");
        }
        assertThatThrownBy(() -> fence.createTable(connection))
            .isInstanceOf(StoreRefusedException.class)
            .hasMessageContaining("fenceline_fences has the trigger steal");
      }
    }
  }
}
