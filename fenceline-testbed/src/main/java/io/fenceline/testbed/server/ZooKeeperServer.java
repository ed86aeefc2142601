package io.fenceline.testbed.server;

import io.fenceline.testbed.process.HarnessException;
import io.fenceline.testbed.process.JavaCommand;
import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.RunAs;
import io.fenceline.testbed.process.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A ZooKeeper server in a JVM of its own: alone, or a member of a {@link ZooKeeperEnsemble}.
 *
 * <p>ZooKeeper's classes come from the class path of the test that starts it.
 */
public final class ZooKeeperServer extends ServerProcess {

  private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
  private static final int TLS_PORT = 3;
  private static final int HEAP_MEGABYTES = 96;
  private static final int TIMEOUT_MILLIS = 2_000;
  private static final Duration DEFAULT_TICK = Duration.ofMillis(500);

  /** As a server has by default; short ticks would shorten it. */
  private static final Duration LONGEST_SESSION = Duration.ofSeconds(40);

  private final Duration tick;
  private final int heapMegabytes;
  private final int id;
  private final List<ZooKeeperServer> members;
  private final boolean withTls;
  private @Nullable TlsFiles tls;

  /**
   * A member of an ensemble.
   *
   * @param members all members, this one included; filled when they are started
   */
  ZooKeeperServer(Duration tick, int id, List<ZooKeeperServer> members) {
    this(tick, HEAP_MEGABYTES, id, members, false);
  }

  private ZooKeeperServer(
      Duration tick, int heapMegabytes, int id, List<ZooKeeperServer> members, boolean withTls) {
    super("zookeeper-" + id, takePorts(withTls ? 4 : 3), false, RunAs.self());
    this.tick = tick;
    this.heapMegabytes = heapMegabytes;
    this.id = id;
    this.members = members;
    this.withTls = withTls;
  }

  /** Starts a server with a tick of half a second, so sessions time out after one or more. */
  public static ZooKeeperServer start() {
    return start(DEFAULT_TICK);
  }

  /** Starts a server; sessions time out after two ticks at the earliest. */
  public static ZooKeeperServer start(Duration tick) {
    return start(tick, HEAP_MEGABYTES);
  }

  /** As above, with room for many nodes; such a server is also compiled as one in production is. */
  public static ZooKeeperServer start(Duration tick, int heapMegabytes) {
    return start(tick, heapMegabytes, false);
  }

  /**
   * Starts a server that also listens at {@link #tlsAddress}, to clients that show a certificate.
   * It needs Netty on the class path.
   */
  public static ZooKeeperServer startWithTls(Duration tick) {
    return start(tick, HEAP_MEGABYTES, true);
  }

  private static ZooKeeperServer start(Duration tick, int heapMegabytes, boolean withTls) {
    requireZooKeeper();
    return PortTakenException.retry(
        () -> {
          ZooKeeperServer server = new ZooKeeperServer(tick, heapMegabytes, 1, List.of(), withTls);
          server.startFirst();
          return server;
        });
  }

  /** The certificates of a server that was started with them; good for clients, too. */
  public TlsFiles tlsFiles() {
    TlsFiles files = tls;
    if (files == null) {
      throw new IllegalStateException(this + " was started without TLS");
    }
    return files;
  }

  /** Where a server that was started with TLS speaks it, as {@code host:port}. */
  public String tlsAddress() {
    return host() + ":" + port(TLS_PORT);
  }

  static Duration defaultTick() {
    return DEFAULT_TICK;
  }

  static void requireZooKeeper() {
    try {
      Class.forName(MAIN, false, ZooKeeperServer.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new HarnessException(
          "ZooKeeper is not on the class path; it comes with: org.apache.zookeeper:zookeeper", e);
    }
  }

  @Override
  protected void prepare() throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("dataDir=" + folder().resolve("data"));
    lines.add("tickTime=" + tick.toMillis());
    lines.add("maxSessionTimeout=" + LONGEST_SESSION.toMillis());
    lines.add("initLimit=20");
    lines.add("syncLimit=5");
    lines.add("maxClientCnxns=0");
    lines.add("admin.enableServer=false");
    lines.add("4lw.commands.whitelist=*");
    if (members.isEmpty()) {
      lines.add("clientPortAddress=" + host());
      lines.add("clientPort=" + port());
    }
    members.forEach(member -> lines.add(member.memberLine()));
    if (withTls) {
      lines.addAll(secured(TlsFiles.create(folder())));
    }
    Files.createDirectories(folder().resolve("data"));
    Files.writeString(folder().resolve("data/myid"), Integer.toString(id));
    Files.write(folder().resolve("zoo.cfg"), lines);
  }

  private List<String> secured(TlsFiles files) {
    tls = files;
    String password = "changeit"; // of a key that lives as long as this server
    return List.of(
        "secureClientPortAddress=" + host(),
        "secureClientPort=" + port(TLS_PORT),
        "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
        "ssl.clientAuth=need",
        "ssl.keyStore.location=" + files.keyStore(folder().resolve("server.p12"), password),
        "ssl.keyStore.password=" + password,
        "ssl.trustStore.location=" + files.trustStore(folder().resolve("trust.p12"), password),
        "ssl.trustStore.password=" + password);
  }

  private String memberLine() {
    return "server.%d=%s:%d:%d;%s:%d".formatted(id, host(), port(1), port(2), host(), port());
  }

  @Override
  protected List<String> command() {
    List<String> options = new ArrayList<>();
    options.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=info");
    if (heapMegabytes > HEAP_MEGABYTES) {
      options.add("-XX:TieredStopAtLevel=4"); // The harness is thrifty by default.
    }
    List<String> command = JavaCommand.of(MAIN, heapMegabytes, options);
    command.add(folder().resolve("zoo.cfg").toString());
    return command;
  }

  /** A member of an ensemble answers when there is a leader. The port with TLS opens last. */
  @Override
  protected boolean answers() throws IOException {
    return ask("srvr").contains("Mode: ") && (!withTls || isOpen(port(TLS_PORT)));
  }

  private boolean isOpen(int port) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host(), port), TIMEOUT_MILLIS);
      return true;
    }
  }

  /** Asks one of ZooKeeper's four-letter words, such as {@code mntr} or {@code cons}. */
  public String fourLetterWord(String word) {
    try {
      return ask(word);
    } catch (IOException e) {
      throw new UncheckedIOException(this + ": " + word, e);
    }
  }

  private String ask(String word) throws IOException {
    try (Socket socket = new Socket()) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.connect(new InetSocketAddress(host(), port()), TIMEOUT_MILLIS);
      socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Whether this server leads its ensemble. */
  public boolean isLeader() {
    return fourLetterWord("srvr").contains("Mode: leader");
  }
}
