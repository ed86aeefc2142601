package io.fenceline.jdbc.schema;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.jdbc.Database;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.TransactionLock;
import io.fenceline.jdbc.Urls;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import io.fenceline.testbed.server.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The scripts in docs/sql are what the classes return, and are enough. */
class SchemaScriptsTest {

  private static Path file(Database database) {
    return Path.of("../docs/sql/fenceline-%s.sql".formatted(lower(database)));
  }

  private static String lower(Database database) {
    return database.name().toLowerCase(Locale.ROOT);
  }

  /** Formatted SQL to Liquibase, comments to Flyway and everybody else. */
  static String script(Database database) {
    return "--liquibase formatted sql\n--changeset fenceline:1 dbms:%s\n\n"
            .formatted(lower(database))
        + JdbcStores.at("sqlite:").schema(database)
        + "\n"
        + JdbcFence.create().schema(database);
  }

  @ParameterizedTest
  @EnumSource(Database.class)
  void script_isWhatTheClassesReturn(Database database) throws IOException {
    assertThat(Files.readString(file(database))).isEqualTo(script(database));
  }

  private static void checkTables(String url) throws SQLException {
    try (Fenceline fenceline =
            Fenceline.builder().store(JdbcStores.at(url).createTables(false)).connect();
        Connection connection = DriverManager.getConnection(url)) {
      fenceline.lock("ledger").tryAcquire().orElseThrow().close();
      connection.setAutoCommit(false);
      JdbcFence.create().check(connection, "ledger", FencingToken.exclusive(33));
      TransactionLock.acquire(connection, "ledger");
      connection.commit();
    }
  }

  @Test
  void scriptOfPostgres_isEnough() throws Exception {
    try (PostgresServer server = PostgresServer.builder().trust().fsync(false).start()) {
      server.sql(Files.readString(file(Database.POSTGRESQL)));
      checkTables(Urls.of(server));
    }
  }

  @Test
  void scriptOfMariaDb_isEnough() throws Exception {
    try (MariaDbServer server = MariaDbServer.start()) {
      server.sql(Files.readString(file(Database.MARIADB)).replaceAll("(?m)^--.*", ""));
      checkTables(Urls.of(server));
    }
  }

  @Test
  @NeedsMySql
  void scriptOfMySql_isEnough() throws Exception {
    try (MySqlServer server = MySqlServer.start()) {
      server.sql(Files.readString(file(Database.MYSQL)).replaceAll("(?m)^--.*", ""));
      checkTables(Urls.of(server));
    }
  }
}
