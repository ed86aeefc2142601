package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;
import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.RunAs;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.process.Tool;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server whose user {@code fenceline} may do everything.
 *
 * <p>Where the tests run as root, the server runs as {@code postgres}: it refuses root.
 */
public final class PostgresServer extends ServerProcess {

  static final RunAs USER = RunAs.insteadOfRoot("postgres");
  static final String NAME = "fenceline";
  static final String PASSWORD = "fenceline-secret";

  private final Map<String, String> settings;
  private final boolean trust;
  private final boolean tls;
  private final @Nullable PostgresServer primary;

  private PostgresServer(Builder options, @Nullable PostgresServer primary) {
    super(primary == null ? "postgres" : "postgres-standby", takePorts(1), options.fakeTime, USER);
    this.settings = new LinkedHashMap<>(options.settings);
    this.trust = options.trust;
    this.tls = options.tls;
    this.primary = primary;
  }

  /** Starts a server with PostgreSQL's own settings, fsync among them. */
  public static PostgresServer start() {
    return builder().start();
  }

  public static Builder builder() {
    return new Builder();
  }

  @Override
  protected void prepare() throws IOException {
    if (primary == null) {
      PostgresTemplate.copyTo(data());
    } else {
      copyFrom(primary);
    }
    List<String> lines = new ArrayList<>();
    lines.add("listen_addresses = '" + host() + "'");
    lines.add("port = " + port());
    lines.add("unix_socket_directories = '" + folder() + "'");
    lines.add("shared_buffers = '32MB'");
    // In the data folder, which is deleted: a server that is killed leaves other memory behind.
    lines.add("dynamic_shared_memory_type = 'mmap'");
    if (tls) {
      TlsFiles files = TlsFiles.create(folder());
      USER.own(files.certificate());
      USER.own(files.key());
      lines.add("ssl = on");
      lines.add("ssl_cert_file = '" + files.certificate() + "'");
      lines.add("ssl_key_file = '" + files.key() + "'");
    }
    settings.forEach((name, value) -> lines.add(name + " = '" + value.replace("'", "''") + "'"));
    // At the end of the file, where the last word on a setting is.
    Files.write(data().resolve("postgresql.conf"), lines, StandardOpenOption.APPEND);
    if (trust) {
      Files.writeString(data().resolve("pg_hba.conf"), "host all all " + host() + "/32 trust\n");
    }
  }

  private void copyFrom(PostgresServer source) {
    Tool.run(
        USER,
        Map.of("PGPASSWORD", PASSWORD),
        List.of(
            Debian.postgresProgram("pg_basebackup"),
            "--host=" + source.host(),
            "--port=" + source.port(),
            "--username=" + NAME,
            "--pgdata=" + data(),
            "--checkpoint=fast",
            "--wal-method=stream",
            "--no-sync",
            "--write-recovery-conf"));
  }

  private Path data() {
    return folder().resolve("data");
  }

  @Override
  protected List<String> command() {
    return List.of(Debian.postgresProgram("postgres"), "-D", data().toString());
  }

  @Override
  protected boolean answers() {
    Tool.run(
        Debian.postgresProgram("pg_isready"), "-h", host(), "-p", Integer.toString(port()), "-q");
    return true;
  }

  /** Fast shutdown: TERM would wait for the clients to leave. */
  @Override
  protected String stopSignal() {
    return "INT";
  }

  public String user() {
    return NAME;
  }

  public String password() {
    return PASSWORD;
  }

  public String database() {
    return "postgres";
  }

  /** The URL for JDBC, without user and password. */
  public String jdbcUrl() {
    return "jdbc:postgresql://" + address() + "/" + database();
  }

  /** Runs SQL through psql, without a driver; rows come as lines, columns separated by a bar. */
  public String sql(String statements) {
    return Tool.run(
            RunAs.self(),
            Map.of("PGPASSWORD", PASSWORD, "PGCONNECT_TIMEOUT", "5"),
            List.of(
                Debian.postgresProgram("psql"),
                "--no-psqlrc",
                "--quiet",
                "--tuples-only",
                "--no-align",
                "--set=ON_ERROR_STOP=1",
                "--host=" + host(),
                "--port=" + port(),
                "--username=" + NAME,
                "--dbname=" + database(),
                "--command=" + statements))
        .strip();
  }

  /** Starts a hot standby of this server: it follows, and refuses to write. */
  public PostgresServer startStandby() {
    return PortTakenException.retry(
        () -> {
          PostgresServer standby = new PostgresServer(builder(), this);
          standby.startFirst();
          return standby;
        });
  }

  /** Waits until this server, a standby, has replayed all that its primary has written so far. */
  public void awaitInSync(Duration bound) {
    PostgresServer source = primary;
    if (source == null) {
      throw new IllegalStateException(this + " is no standby");
    }
    String written = source.sql("SELECT pg_current_wal_lsn()");
    Eventually.until(
        bound,
        this + " to replay " + written,
        () -> sql("SELECT pg_last_wal_replay_lsn() >= '" + written + "'"),
        "t"::equals);
  }

  /** What a server is started with. */
  public static final class Builder {

    private final Map<String, String> settings = new LinkedHashMap<>();
    private boolean fakeTime;
    private boolean trust;
    private boolean tls;

    private Builder() {}

    /**
     * Asks nobody for a password: making sure of one is thousands of hashes, which a suite with
     * many short connections has better use for.
     */
    public Builder trust() {
      this.trust = true;
      return this;
    }

    /** Speaks TLS with whoever asks for it. */
    public Builder tls() {
      this.tls = true;
      return this;
    }

    /** Sets a setting of {@code postgresql.conf}. */
    public Builder setting(String name, String value) {
      settings.put(name, value);
      return this;
    }

    /** Whether commits reach the disk; they do unless told otherwise. */
    public Builder fsync(boolean on) {
      return setting("fsync", on ? "on" : "off");
    }

    /** Gives the server a wall clock that can be set: see {@link ServerProcess#clockOffset}. */
    public Builder fakeTime() {
      this.fakeTime = true;
      return this;
    }

    /** Starts the server; returns when it answers. */
    public PostgresServer start() {
      return PortTakenException.retry(
          () -> {
            PostgresServer server = new PostgresServer(this, null);
            server.startFirst();
            return server;
          });
    }
  }
}
