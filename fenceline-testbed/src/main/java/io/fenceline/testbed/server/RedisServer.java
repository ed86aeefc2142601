package io.fenceline.testbed.server;

import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.RunAs;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server, or one of Valkey.
 *
 * <pre>{@code
 * try (RedisServer redis = RedisServer.builder().appendOnly("always").start()) {
 *   redis.command("SET", "key", "value");
 *   redis.kill();
 *   redis.restart();
 * }
 * }</pre>
 */
public final class RedisServer extends ServerProcess {

  private static final Duration READINESS_TIMEOUT = Duration.ofMillis(500);

  private final Builder options;
  private @Nullable TlsFiles tls;

  private RedisServer(Builder options) {
    super(
        options.kind.scheme(), takePorts(options.cluster ? 2 : 1), options.fakeTime, RunAs.self());
    this.options = options;
  }

  /** Starts a server that keeps its data in memory only. */
  public static RedisServer start() {
    return builder().start();
  }

  public static Builder builder() {
    return new Builder();
  }

  @Override
  protected void prepare() throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("bind " + host());
    lines.add("dir " + folder());
    lines.add("save \"\"");
    lines.add("repl-diskless-sync-delay 0");
    if (options.tls) {
      TlsFiles files = TlsFiles.create(folder());
      tls = files;
      lines.add("port 0");
      lines.add("tls-port " + port());
      lines.add("tls-ca-cert-file " + files.caCertificate());
      lines.add("tls-cert-file " + files.certificate());
      lines.add("tls-key-file " + files.key());
      lines.add("tls-auth-clients no");
    } else {
      lines.add("port " + port());
    }
    if (options.cluster) {
      lines.add("cluster-enabled yes");
      lines.add("cluster-port " + port(1));
    }
    if (!options.acl.isEmpty()) {
      Files.write(folder().resolve("users.acl"), options.acl);
      lines.add("aclfile " + folder().resolve("users.acl"));
    } else if (options.password != null) {
      lines.add("requirepass \"" + options.password + "\"");
    }
    lines.addAll(options.lines);
    Files.write(folder().resolve("redis.conf"), lines);
  }

  @Override
  protected List<String> command() {
    return List.of(options.kind.server(), folder().resolve("redis.conf").toString());
  }

  @Override
  protected boolean answers() throws IOException {
    try (RespClient client = connect()) {
      client.readTimeout(READINESS_TIMEOUT);
      return "PONG".equals(client.call("PING"));
    } catch (RedisErrorException e) {
      return false; // LOADING
    }
  }

  /** Where the node talks to the others of its cluster, as {@code redis-cli --cluster} wants it. */
  String clusterAddress() {
    return address() + "@" + port(1);
  }

  private RespClient connect() throws IOException {
    RespClient client = RespClient.connect(host(), port(), tls);
    try {
      if (options.password != null) {
        client.call("AUTH", options.password);
      }
      return client;
    } catch (IOException | RuntimeException e) {
      client.close();
      throw e;
    }
  }

  /**
   * Runs one command on a connection of its own, without a driver.
   *
   * @return a {@code String}, a {@code Long}, a {@code List} of these, or null for nil
   * @throws RedisErrorException if Redis answers with an error
   * @throws UncheckedIOException if Redis does not answer within five seconds
   */
  public @Nullable Object command(String... words) {
    try (RespClient client = connect()) {
      return client.call(words);
    } catch (IOException e) {
      throw new UncheckedIOException(this + ": " + String.join(" ", words), e);
    }
  }

  /** One line of {@code INFO}, such as {@code master_link_status}; empty if there is none. */
  public String info(String field) {
    return infoLines("everything").getOrDefault(field, "");
  }

  /**
   * How often each command ran, by its name in lower case, since the start or {@link
   * #resetCommandCounts}. Commands that a script calls count as well.
   */
  public Map<String, Long> commandCounts() {
    Map<String, Long> counts = new TreeMap<>();
    infoLines("commandstats")
        .forEach(
            (field, value) -> {
              // cmdstat_get:calls=1,usec=5,…
              String calls = value.substring(value.indexOf('=') + 1, value.indexOf(','));
              counts.put(field.substring("cmdstat_".length()), Long.valueOf(calls));
            });
    return counts;
  }

  /** How often one command ran; see {@link #commandCounts()}. */
  public long commandCount(String command) {
    return commandCounts().getOrDefault(command.toLowerCase(Locale.ROOT), 0L);
  }

  /** Sets all counts of commands to zero. */
  public void resetCommandCounts() {
    command("CONFIG", "RESETSTAT");
  }

  private Map<String, String> infoLines(String section) {
    Map<String, String> lines = new TreeMap<>();
    String info = String.valueOf(command("INFO", section));
    info.lines()
        .filter(line -> line.indexOf(':') > 0)
        .forEach(
            line ->
                lines.put(
                    line.substring(0, line.indexOf(':')), line.substring(line.indexOf(':') + 1)));
    return lines;
  }

  /** Waits until this server, a replica, has all that its master has. */
  public void awaitInSync(Duration bound) {
    Eventually.until(
        bound, this + " to follow its master", () -> info("master_link_status"), "up"::equals);
  }

  /** The certificates of a server that was started with {@link Builder#tls}. */
  public TlsFiles tlsFiles() {
    TlsFiles files = tls;
    if (files == null) {
      throw new IllegalStateException(this + " was started without tls()");
    }
    return files;
  }

  /** A URI for clients, with the password if there is one. */
  public String uri() {
    String scheme = options.kind.scheme() + (options.tls ? "s://" : "://");
    return scheme + (options.password == null ? "" : ":" + options.password + "@") + address();
  }

  /** What a server is started with. Without settings: no persistence, no password, no TLS. */
  public static final class Builder {

    private final List<String> lines = new ArrayList<>();
    private final List<String> acl = new ArrayList<>();
    private @Nullable String password;
    private boolean tls;
    private boolean cluster;
    private boolean fakeTime;
    private RedisKind kind = RedisKind.REDIS;

    private Builder() {}

    /** Whose server is started; Redis by default. */
    public Builder kind(RedisKind kind) {
      this.kind = kind;
      return this;
    }

    /** Keeps an append-only file, with {@code always}, {@code everysec} or {@code no} fsync. */
    public Builder appendOnly(String fsync) {
      return config("appendonly yes").config("appendfsync " + fsync);
    }

    /** Limits the memory, such as {@code 3mb} with {@code allkeys-lru}. */
    public Builder maxMemory(String limit, String policy) {
      return config("maxmemory " + limit).config("maxmemory-policy " + policy);
    }

    /** Makes the server a replica of another one. */
    public Builder replicaOf(RedisServer master) {
      if (master.options.password != null) {
        config("masterauth \"" + master.options.password + "\"");
      }
      return config("replicaof " + master.host() + " " + master.port());
    }

    /** Asks the default user for a password. */
    public Builder password(String secret) {
      this.password = secret;
      return this;
    }

    /**
     * Adds a user by Redis's own rules, such as {@code on >secret ~fl:* &fl:* +@all -@dangerous}.
     * The default user keeps all rights, with the {@link #password} if there is one.
     */
    public Builder user(String name, String rules) {
      acl.add("user " + name + " " + rules);
      return this;
    }

    /** Speaks TLS only, with certificates made for it: see {@link RedisServer#tlsFiles}. */
    public Builder tls() {
      this.tls = true;
      return this;
    }

    /** Makes the server a node of a cluster that is yet to be formed. */
    public Builder clusterEnabled() {
      this.cluster = true;
      return this;
    }

    /** Gives the server a wall clock that can be set: see {@link ServerProcess#clockOffset}. */
    public Builder fakeTime() {
      this.fakeTime = true;
      return this;
    }

    /** Adds a line of {@code redis.conf}. */
    public Builder config(String line) {
      lines.add(line);
      return this;
    }

    /** Starts the server; returns when it answers. */
    public RedisServer start() {
      Builder settings = copy();
      if (!settings.acl.isEmpty()) {
        String access = password == null ? "nopass" : ">" + password;
        settings.acl.add("user default on " + access + " ~* &* +@all");
      }
      return PortTakenException.retry(
          () -> {
            RedisServer server = new RedisServer(settings);
            server.startFirst();
            return server;
          });
    }

    private Builder copy() {
      Builder copy = new Builder();
      copy.lines.addAll(lines);
      copy.acl.addAll(acl);
      copy.password = password;
      copy.tls = tls;
      copy.cluster = cluster;
      copy.fakeTime = fakeTime;
      copy.kind = kind;
      return copy;
    }
  }
}
