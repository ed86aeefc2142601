package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;
import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.RunAs;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.process.Tool;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** What MariaDB's and MySQL's servers have in common; their user may do everything. */
public abstract class InnoDbServer extends ServerProcess {

  static final String LOG_SIZE = "8M";

  static final String NAME = "fenceline";
  static final String PASSWORD = "fenceline-secret";
  private static final int GREETING_TIMEOUT_MILLIS = 1_000;

  private final String scheme;
  private final List<String> settings;

  InnoDbServer(String scheme, Builder<?> options) {
    super(scheme, takePorts(1), options.fakeTime, RunAs.self(), options.onDisk);
    this.scheme = scheme;
    this.settings = List.copyOf(options.settings);
  }

  /** Fills a folder with the files of a server that has never been used. */
  abstract void copyTemplateTo(Path data) throws IOException;

  /** The server, and the options that only it has. */
  abstract List<String> programAndOptions();

  @Override
  protected final void prepare() throws IOException {
    copyTemplateTo(data());
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

  final Path socket() {
    return folder().resolve("socket");
  }

  @Override
  protected final List<String> command() {
    List<String> command = new ArrayList<>(programAndOptions());
    command.add(1, "--no-defaults");
    command.add("--user=" + System.getProperty("user.name"));
    command.add("--datadir=" + data());
    command.add("--tmpdir=" + folder());
    command.add("--socket=" + socket());
    command.add("--pid-file=" + folder().resolve("pid"));
    command.add("--bind-address=" + host());
    command.add("--port=" + port());
    command.add("--init-file=" + folder().resolve("init.sql"));
    command.add("--skip-name-resolve");
    command.add("--innodb-buffer-pool-size=32M");
    command.add("--innodb-log-file-size=" + LOG_SIZE);
    settings.forEach(setting -> command.add("--" + setting));
    return command;
  }

  /** Waits for the greeting: it comes when the server has run its initial statements. */
  @Override
  protected final boolean answers() throws IOException {
    try (Socket socket = new Socket()) {
      socket.setSoTimeout(GREETING_TIMEOUT_MILLIS);
      socket.connect(new InetSocketAddress(host(), port()), GREETING_TIMEOUT_MILLIS);
      InputStream in = socket.getInputStream();
      byte[] greeting = in.readNBytes(5);
      return greeting.length == 5 && greeting[4] == 10; // the version of the protocol
    }
  }

  public final String user() {
    return NAME;
  }

  public final String password() {
    return PASSWORD;
  }

  public final String database() {
    return NAME;
  }

  /** The URL for JDBC, without user and password. */
  public final String jdbcUrl() {
    return "jdbc:" + scheme + "://" + address() + "/" + database();
  }

  /** Runs SQL through MariaDB's client, without a driver; rows as lines, columns by tabs. */
  public final String sql(String statements) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Debian.program("mariadb", "mariadb-client"),
                "--no-defaults",
                "--connect-timeout=5"));
    command.addAll(login());
    command.addAll(
        List.of("--database=" + NAME, "--batch", "--skip-column-names", "--execute=" + statements));
    return Tool.run(command.toArray(String[]::new)).strip();
  }

  /** How the client gets in. */
  abstract List<String> login();

  /** What a server is started with. */
  public static final class Builder<S extends InnoDbServer> {

    private final Function<Builder<S>, S> create;
    private final List<String> settings = new ArrayList<>();
    private boolean fakeTime;
    private boolean onDisk;

    Builder(Function<Builder<S>, S> create) {
      this.create = create;
    }

    /** Sets an option of the server, such as {@code innodb-flush-log-at-trx-commit}. */
    public Builder<S> setting(String name, String value) {
      settings.add(name + "=" + value);
      return this;
    }

    /** Keeps its files on disk: a log in a folder in memory is mapped, and outlives any crash. */
    public Builder<S> onDisk() {
      this.onDisk = true;
      return this;
    }

    /** Gives the server a wall clock that can be set: see {@link ServerProcess#clockOffset}. */
    public Builder<S> fakeTime() {
      this.fakeTime = true;
      return this;
    }

    /** Starts the server; returns when it answers. */
    public S start() {
      return PortTakenException.retry(
          () -> {
            S server = create.apply(this);
            server.startFirst();
            return server;
          });
    }
  }
}
