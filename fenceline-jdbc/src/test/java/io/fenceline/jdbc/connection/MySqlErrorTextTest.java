package io.fenceline.jdbc.connection;

import static io.fenceline.testbed.contract.ErrorText.refused;
import static io.fenceline.testbed.contract.ErrorText.unavailable;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.schema.LeastRights;
import io.fenceline.testbed.contract.ErrorText;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each fault has one line that says what happened and what to do; a refusal ends a wait at once.
 */
@NeedsMySql
@SuppressWarnings("MustBeClosedChecker") // What fails is not there to be closed.
class MySqlErrorTextTest {
  private static MySqlServer server;
  private static String app;

  @BeforeAll
  static void start() {
    server = MySqlServer.start();
    app = LeastRights.in(server);
  }

  @AfterAll
  static void stop() {
    server.close();
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
    String at = "(store=jdbc:mysql://HOST/locks)";
    String place = "jdbc:mysql://" + server.address();
    return List.of(
        unavailable(
            "login without TLS or the server's key",
            "Connecting failed: the login needs TLS, or the server's key: add sslMode=VERIFY_IDENTITY, or allowPublicKeyRetrieval=true in a network that you trust [*] "
                + at,
            () -> {
              server.sql("FLUSH PRIVILEGES"); // It knows nobody's password any more.
              connect(place + "/locks?user=app&password=c4n4ry", Duration.ofMillis(500));
            }),
        refused(
            "wrong password",
            "Connecting failed: the server refused the login; check user and password [*Access denied for user 'app'@*] "
                + at,
            () -> connect(Urls.withKey(place + "/locks?user=app&password=c4n4ry"))),
        refused(
            "missing database",
            "Connecting failed: there is no such database; create it, or check its name [*Unknown database 'nowhere'] (store=jdbc:mysql://HOST/nowhere)",
            () ->
                connect(
                    Urls.withKey(
                        place
                            + "/nowhere?user="
                            + server.user()
                            + "&password="
                            + server.password()))),
        unavailable(
            "unknown host",
            "Connecting failed: the host is not known; check the address [*] (store=jdbc:mysql://no-such-host.invalid/db)",
            () ->
                connect(
                    "jdbc:mysql://no-such-host.invalid/db?user=a&password=c4n4ry",
                    Duration.ofMillis(500))),
        unavailable(
            "connection refused",
            "Connecting failed: nothing listens there; check host and port, and that the server runs [*] (store=jdbc:mysql://127.0.0.1:1/db)",
            () ->
                connect(
                    "jdbc:mysql://127.0.0.1:1/db?user=a&password=c4n4ry", Duration.ofMillis(500))),
        unavailable(
            "TLS to a server without it",
            "Connecting failed: the server does not speak TLS; turn it on there, or leave sslMode out [*] "
                + at,
            () -> connect(app + "&sslMode=VERIFY_IDENTITY", Duration.ofMillis(500))),
        unavailable(
                "server that is silent",
                "Connecting failed: the server can't be reached or did not answer [*] " + at,
                () -> {
                  try (FaultProxy proxy =
                      FaultProxy.to(server.host(), server.port(), Protocol.BYTES)) {
                    proxy.stall(Direction.TO_CLIENT);
                    connect(app.replace(server.address(), proxy.address()), Duration.ofSeconds(1));
                  }
                })
            .within(ErrorText.SOON),
        refused(
            "missing right at connect",
            "The database can't be used for locks: the user lacks UPDATE ON fenceline_locks, UPDATE ON fenceline_claims, UPDATE ON fenceline_format; GRANT what docs/least-rights.md lists* "
                + at,
            () -> {
              server.sql("REVOKE UPDATE ON locks.* FROM 'app'@'%'");
              try {
                connect(app);
              } finally {
                server.sql("GRANT UPDATE ON locks.* TO 'app'@'%'");
              }
            }),
        // A right on the database that is taken away is felt by new connections only: no row here.
        refused(
            "read-only server",
            "A claim of lock 'ledger' failed: the server may only be read; locks need the primary [*read-only*] "
                + at,
            () -> acquireAfter(app, "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0")),
        refused(
            "tables dropped after connecting",
            "A claim of lock 'ledger' failed: the tables are not there [*doesn't exist*] " + at,
            () ->
                acquireAfter(
                    app,
                    "RENAME TABLE locks.fenceline_locks TO locks.elsewhere",
                    "RENAME TABLE locks.elsewhere TO locks.fenceline_locks")),
        unavailable(
            "server killed while connected",
            "A claim of lock 'ledger' failed: the server can't be reached or did not answer [*] (store=jdbc:mysql://HOST/*)",
            () -> {
              try (Fenceline client = connect(app)) { // The last row: nobody needs it any more.
                server.kill();
                assertThat(client.lock("ledger").tryAcquire()).isEmpty();
              }
            }));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void fault_isNamed(ErrorText row) {
    row.check("c4n4ry");
  }
}
