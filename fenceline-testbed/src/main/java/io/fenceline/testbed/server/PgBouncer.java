package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;
import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.process.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * PgBouncer in front of a PostgreSQL server that trusts everybody, pooling transactions: each of a
 * client's transactions may run on another connection to the server.
 *
 * <p>Where the tests run as root, it runs as {@code postgres}: it refuses root.
 */
public final class PgBouncer extends ServerProcess {

  private final PostgresServer server;
  private final List<String> users;

  private PgBouncer(PostgresServer server, List<String> users) {
    super("pgbouncer", takePorts(1), false, PostgresServer.USER);
    this.server = server;
    this.users = users;
  }

  /** Starts one that lets in the server's own user, and these. */
  public static PgBouncer before(PostgresServer server, String... users) {
    List<String> all = new ArrayList<>(List.of(users));
    all.add(server.user());
    return PortTakenException.retry(
        () -> {
          PgBouncer bouncer = new PgBouncer(server, List.copyOf(all));
          bouncer.startFirst();
          return bouncer;
        });
  }

  @Override
  protected void prepare() throws IOException {
    Files.write(
        folder().resolve("users.txt"),
        users.stream().map(user -> "\"" + user + "\" \"\"").toList());
    Files.write(
        folder().resolve("pgbouncer.ini"),
        List.of(
            "[databases]",
            "* = host=" + server.host() + " port=" + server.port(),
            "[pgbouncer]",
            "listen_addr = " + host(),
            "listen_port = " + port(),
            "unix_socket_dir =",
            "auth_type = trust",
            "auth_file = " + folder().resolve("users.txt"),
            "pool_mode = transaction",
            "default_pool_size = 20",
            "max_client_conn = 2000",
            "ignore_startup_parameters = extra_float_digits"));
  }

  @Override
  protected List<String> command() {
    return List.of(
        Debian.program("pgbouncer", "pgbouncer"), folder().resolve("pgbouncer.ini").toString());
  }

  @Override
  protected boolean answers() {
    Tool.run(
        Debian.postgresProgram("pg_isready"), "-h", host(), "-p", Integer.toString(port()), "-q");
    return true;
  }

  /** Ends at once: TERM would wait for the clients to leave. */
  @Override
  protected String stopSignal() {
    return "QUIT";
  }
}
