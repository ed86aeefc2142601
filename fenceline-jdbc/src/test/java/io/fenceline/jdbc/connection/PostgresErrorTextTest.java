package io.fenceline.jdbc.connection;

import static io.fenceline.testbed.contract.ErrorText.refused;
import static io.fenceline.testbed.contract.ErrorText.unavailable;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.Fenceline;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.schema.LeastRights;
import io.fenceline.testbed.contract.ErrorText;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.PostgresServer;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each fault has one line that says what happened and what to do; a refusal ends a wait at once.
 */
@SuppressWarnings("MustBeClosedChecker") // What fails is not there to be closed.
class PostgresErrorTextTest {
  private static PostgresServer server;
  private static String app;

  @BeforeAll
  static void start() {
    server = PostgresServer.builder().fsync(false).start();
    app = LeastRights.in(server);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String url(String parameters) {
    return server.jdbcUrl() + "?" + parameters;
  }

  private static String own() {
    return "user=" + server.user() + "&password=" + server.password();
  }

  private static Fenceline connect(String url) {
    return connect(url, Duration.ofSeconds(20));
  }

  private static Fenceline connect(String url, Duration timeout) {
    return Fenceline.builder()
        .store(url)
        .connectTimeout(timeout)
        .operationTimeout(Duration.ofSeconds(2))
        .connect();
  }

  /** Connects, breaks something, and waits for a lock. */
  private static void acquireAfter(String url, String sql, String mended) throws Exception {
    try (Fenceline client = connect(url)) {
      server.sql(sql);
      try {
        client.lock("ledger").acquire(ErrorText.BOUND);
      } finally {
        server.sql(mended);
      }
    }
  }

  static List<ErrorText> rows() {
    String at = "(store=jdbc:postgresql://HOST/postgres)";
    return List.of(
        refused(
            "wrong password",
            "Connecting failed: the server refused the login; check user and password [FATAL: password authentication failed for user \"app\"] "
                + at,
            () -> connect(url("user=app&password=c4n4ry"))),
        refused(
            "unknown user",
            "Connecting failed: the server refused the login; check user and password [FATAL: password authentication failed for user \"nobody\"] "
                + at,
            () -> connect(url("user=nobody&password=c4n4ry"))),
        refused(
            "missing database",
            "Connecting failed: there is no such database; create it, or check its name [FATAL: database \"nowhere\" does not exist] (store=jdbc:postgresql://HOST/nowhere)",
            () -> connect(server.jdbcUrl().replaceFirst("/postgres$", "/nowhere") + "?" + own())),
        unavailable(
            "unknown host",
            "Connecting failed: the host is not known; check the address [*no-such-host.invalid*] (store=jdbc:postgresql://no-such-host.invalid/db)",
            () ->
                connect(
                    "jdbc:postgresql://no-such-host.invalid/db?user=a&password=c4n4ry",
                    Duration.ofMillis(500))),
        unavailable(
            "connection refused",
            "Connecting failed: nothing listens there; check host and port, and that the server runs [Connection to 127.0.0.1:1 refused*] (store=jdbc:postgresql://127.0.0.1:1/db)",
            () ->
                connect(
                    "jdbc:postgresql://127.0.0.1:1/db?user=a&password=c4n4ry",
                    Duration.ofMillis(500))),
        unavailable(
            "TLS to a server without it",
            "Connecting failed: the server does not speak TLS; turn it on there, or leave sslmode out [The server does not support SSL.] "
                + at,
            () -> connect(url(own() + "&sslmode=require"), Duration.ofMillis(500))),
        unavailable(
                "server that is silent",
                "Connecting failed: the server can't be reached or did not answer [*] (store=jdbc:postgresql://HOST/postgres)",
                () -> {
                  try (FaultProxy proxy =
                      FaultProxy.to(server.host(), server.port(), Protocol.BYTES)) {
                    proxy.stall(Direction.TO_CLIENT);
                    connect(
                        "jdbc:postgresql://" + proxy.address() + "/postgres?" + own(),
                        Duration.ofSeconds(1));
                  }
                })
            .within(ErrorText.SOON),
        refused(
            "missing right at connect",
            "The database can't be used for locks: the user lacks UPDATE ON *fenceline_locks; GRANT what docs/least-rights.md lists* "
                + at,
            () -> {
              server.sql("REVOKE UPDATE ON fenceline.fenceline_locks FROM app");
              try {
                connect(app);
              } finally {
                server.sql("GRANT UPDATE ON fenceline.fenceline_locks TO app");
              }
            }),
        refused(
            "no right to create the tables",
            "The database can't be used for locks: the user may not do that; GRANT what docs/least-rights.md lists [ERROR: permission denied for schema empty] "
                + at,
            () -> {
              server.sql("CREATE SCHEMA empty; GRANT USAGE ON SCHEMA empty TO app");
              connect(app.replace("currentSchema=fenceline", "currentSchema=empty"));
            }),
        refused(
            "right taken away after connecting",
            "A claim of lock 'ledger' failed: the user may not do that; GRANT what docs/least-rights.md lists [ERROR: permission denied for table fenceline_locks] "
                + at,
            () ->
                acquireAfter(
                    app,
                    "REVOKE UPDATE ON fenceline.fenceline_locks FROM app",
                    "GRANT UPDATE ON fenceline.fenceline_locks TO app")),
        refused(
            "password changed after connecting",
            "A claim of lock 'ledger' failed: the server refused the login; check user and password [FATAL: password authentication failed for user \"app\"] "
                + at,
            () ->
                acquireAfter(
                    app,
                    "ALTER USER app PASSWORD 'another';"
                        + "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'",
                    "ALTER USER app PASSWORD 'secret'")),
        refused(
            "read-only",
            "A claim of lock 'ledger' failed: the server or the user may only read; locks need the primary [ERROR: cannot execute * in a read-only transaction] "
                + at,
            () ->
                acquireAfter(
                    app,
                    "ALTER USER app SET default_transaction_read_only = on;"
                        + "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'",
                    "ALTER USER app RESET default_transaction_read_only")),
        refused(
            "tables dropped after connecting",
            "A claim of lock 'ledger' failed: the tables are not there [ERROR: relation \"*\" does not exist] "
                + at,
            () ->
                acquireAfter(
                    app,
                    "ALTER TABLE fenceline.fenceline_locks RENAME TO elsewhere",
                    "ALTER TABLE fenceline.elsewhere RENAME TO fenceline_locks")),
        refused(
            "table that is not ours",
            "The database can't be used for locks: the table fenceline_format is not Fenceline's; use other tables, or drop it (*) "
                + at,
            () -> {
              server.sql(
                  "CREATE SCHEMA other; CREATE TABLE other.fenceline_locks (a int);"
                      + "CREATE TABLE other.fenceline_claims (a int);"
                      + "CREATE TABLE other.fenceline_format (version text);"
                      + "INSERT INTO other.fenceline_format VALUES ('hello')");
              connect(url(own() + "&currentSchema=other"));
            }),
        unavailable(
            "exhausted pool of a given data source",
            "Connecting failed: the data source gave no connection within 1s; all of them are in use, or the server can't be reached (store=data source)",
            () -> {
              try (HikariDataSource pool = pool();
                  Connection taken = pool.getConnection()) {
                assertThat(taken.isClosed()).isFalse();
                Fenceline.builder()
                    .store(JdbcStores.from(pool))
                    .connectTimeout(Duration.ofSeconds(1))
                    .connect();
              }
            }),
        unavailable(
            "pool of a given data source that is exhausted after connecting",
            "A claim of lock 'ledger' failed: the data source gave no connection within 1.35s; all of them are in use, or the server can't be reached "
                + at,
            () -> {
              try (HikariDataSource pool = pool();
                  Fenceline client =
                      Fenceline.builder()
                          .store(JdbcStores.from(pool))
                          .operationTimeout(Duration.ofSeconds(2))
                          .connect();
                  Connection taken = pool.getConnection()) {
                assertThat(taken.isClosed()).isFalse();
                assertThat(client.lock("ledger").tryAcquire()).isEmpty();
              }
            }),
        unavailable(
            "server killed while connected",
            "A claim of lock 'ledger' failed: the server * [*] (store=jdbc:postgresql://HOST/postgres)",
            () -> {
              try (Fenceline client = connect(app)) { // The last row: nobody needs it any more.
                server.kill();
                assertThat(client.lock("ledger").tryAcquire()).isEmpty();
              }
            }));
  }

  private static HikariDataSource pool() {
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(url(own()));
    pool.setMaximumPoolSize(1);
    return pool;
  }

  @ParameterizedTest
  @MethodSource("rows")
  void fault_isNamed(ErrorText row) {
    row.check("c4n4ry");
  }
}
