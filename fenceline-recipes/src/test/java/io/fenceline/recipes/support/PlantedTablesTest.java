package io.fenceline.recipes.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StoreRefusedException;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.recipes.once.Codec;
import io.fenceline.recipes.once.Once;
import io.fenceline.recipes.once.SqlRecords;
import io.fenceline.recipes.once.SqlWork;
import io.fenceline.recipes.once.Vanished;
import io.fenceline.recipes.ratelimit.RateLimit;
import io.fenceline.recipes.ratelimit.RateLimitFallback;
import io.fenceline.recipes.ratelimit.SqlRates;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables of recipes that somebody else has made ready for us, with more in them than we want. */
class PlantedTablesTest {
  private static PostgresServer postgres;
  private static DataSource app;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    postgres = PostgresServer.builder().fsync(false).start();
    postgres.sql(
        "CREATE ROLE app LOGIN PASSWORD 'app-secret'; CREATE ROLE evil;"
            + "CREATE TABLE canary (who text);"
            + "GRANT CREATE ON SCHEMA public TO app, evil; GRANT ALL ON canary TO app");
    app = source(postgres.jdbcUrl() + "?user=app&password=app-secret");
  }

  private static DataSource source(String url) {
    return JdbcStores.at(url).connections();
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  @BeforeEach
  void forget() {
    postgres.sql(
        "DROP TABLE IF EXISTS fenceline_once, fenceline_rates; DROP FUNCTION IF EXISTS steal();"
            + "DELETE FROM canary");
  }

  private static void plant(String table, String schema) {
    postgres.sql(
        "SET ROLE evil;"
            + schema
            + "CREATE FUNCTION steal() RETURNS trigger LANGUAGE plpgsql AS"
            + " $$ BEGIN INSERT INTO canary VALUES (current_user); RETURN NEW; END $$;"
            + "CREATE TRIGGER steal BEFORE INSERT OR UPDATE ON %1$s FOR EACH STATEMENT EXECUTE FUNCTION steal();"
                .formatted(table)
            + "GRANT ALL ON %s TO PUBLIC".formatted(table));
  }

  private static String work(SqlRecords records) throws InterruptedException {
    try (Fenceline fenceline = Fenceline.connect("memory:")) {
      Once<SqlWork, String> once =
          Once.of(fenceline, "payments", records, Codec.text(), Vanished.RERUN);
      return once.call("order-1", "EUR 1.00", work -> "done");
    }
  }

  private static boolean take(SqlRates rates) {
    try (Fenceline fenceline = Fenceline.connect("memory:")) {
      return RateLimit.strict(
              fenceline, "calls", 5, Duration.ofSeconds(10), rates, RateLimitFallback.refuse())
          .tryAcquire();
    }
  }

  @Test
  void recordsInATableOfAStranger_areRefused_beforeAnythingOfItRuns() throws Exception {
    plant("fenceline_once", SqlRecords.schema("PostgreSQL"));
    SqlRecords records = SqlRecords.over(app);

    assertThatThrownBy(records::createTable)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("fenceline_once belongs to evil")
        .hasMessageContaining("has the trigger steal");
    assertThatThrownBy(() -> work(records))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("fenceline_once belongs to evil");
    assertThat(postgres.sql("SELECT count(*) FROM canary")).isEqualTo("0");

    postgres.sql("DROP TRIGGER steal ON fenceline_once");
    assertThatThrownBy(() -> work(records)).hasMessageContaining("belongs to evil");
    assertThat(work(records.tableOwnedBy("evil"))).isEqualTo("done");
  }

  @Test
  void limitsInATableOfAStranger_areRefused_beforeAnythingOfItRuns() {
    plant("fenceline_rates", SqlRates.schema("PostgreSQL"));
    SqlRates rates = SqlRates.over(app);

    assertThatThrownBy(rates::createTable)
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("fenceline_rates belongs to evil")
        .hasMessageContaining("has the trigger steal");
    assertThatThrownBy(() -> take(rates))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("fenceline_rates belongs to evil");
    assertThat(postgres.sql("SELECT count(*) FROM canary")).isEqualTo("0");

    postgres.sql("DROP TRIGGER steal ON fenceline_rates");
    assertThat(take(rates.tableOwnedBy("evil"))).isTrue();
  }

  @Test
  void viewInThePlaceOfATable_isRefused_beforeItIsRead() {
    postgres.sql(
        "SET ROLE evil; CREATE FUNCTION peek() RETURNS bigint LANGUAGE plpgsql AS"
            + " $$ BEGIN INSERT INTO canary VALUES (current_user); RETURN 1; END $$;"
            + "CREATE VIEW fenceline_once AS SELECT CAST('' AS bytea) AS name, 0 AS state,"
            + " '' AS fingerprint, peek() AS token, 0 AS attempts, peek() AS since, '' AS worker,"
            + " CAST(NULL AS bytea) AS result; GRANT SELECT ON fenceline_once TO PUBLIC");
    try {
      assertThatThrownBy(() -> work(SqlRecords.over(app)))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("fenceline_once is not a table");
      assertThat(postgres.sql("SELECT count(*) FROM canary")).isEqualTo("0");
    } finally {
      postgres.sql("DROP VIEW fenceline_once; DROP FUNCTION peek()");
    }
  }

  @Test
  void triggerOnOurOwnTable_isRefused_inEveryDatabase() throws Exception {
    try (MariaDbServer mariaDb = MariaDbServer.start()) {
      String login = "?user=" + mariaDb.user() + "&password=" + mariaDb.password();
      refusesTrigger(source(mariaDb.jdbcUrl() + login), "FOR EACH ROW SET NEW.token = 1");
      refusesTrigger(source("sqlite:" + folder.resolve("once.db")), "BEGIN SELECT 1; END");
    }
  }

  private static void refusesTrigger(DataSource dataSource, String action) throws Exception {
    SqlRecords.over(dataSource).createTable();
    assertThat(work(SqlRecords.over(dataSource))).isEqualTo("done");
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TRIGGER meddle BEFORE UPDATE ON fenceline_once " + action);
    }

    assertThatThrownBy(() -> work(SqlRecords.over(dataSource)))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("fenceline_once has the trigger meddle");
  }
}
