package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;
import io.fenceline.testbed.process.Http;
import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.RunAs;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.process.Tool;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An etcd server: alone, or a member of an {@link EtcdCluster}. */
public final class EtcdServer extends ServerProcess {

  private final String member;
  private final List<EtcdServer> members;
  private final List<String> options;
  private final boolean withTls;
  private final @Nullable FaultProxy peerProxy;
  private @Nullable TlsFiles tls;

  /**
   * A member of a cluster.
   *
   * @param members all members, this one included; filled when they are started
   * @param behindProxy whether the other members reach it through a proxy
   */
  EtcdServer(String member, List<EtcdServer> members, List<String> options, boolean behindProxy) {
    this(member, members, options, false, behindProxy);
  }

  private EtcdServer(
      String member,
      List<EtcdServer> members,
      List<String> options,
      boolean withTls,
      boolean behindProxy) {
    super("etcd-" + member, takePorts(withTls ? 3 : 2), false, RunAs.self());
    this.member = member;
    this.members = members;
    this.options = List.copyOf(options);
    this.withTls = withTls;
    this.peerProxy = behindProxy ? FaultProxy.to(host(), port(1), Protocol.BYTES) : null;
  }

  /**
   * Starts a server of its own.
   *
   * @param options etcd's own, such as {@code --election-timeout=500}
   */
  public static EtcdServer start(String... options) {
    return start(false, options);
  }

  /**
   * Starts a server that also listens at {@link #tlsAddress}, to clients that show a certificate.
   *
   * @param options etcd's own
   */
  public static EtcdServer startWithTls(String... options) {
    return start(true, options);
  }

  private static EtcdServer start(boolean withTls, String... options) {
    return PortTakenException.retry(
        () -> {
          List<EtcdServer> alone = new ArrayList<>();
          EtcdServer server = new EtcdServer("single", alone, List.of(options), withTls, false);
          alone.add(server);
          server.startFirst();
          return server;
        });
  }

  @Override
  protected void prepare() {
    if (withTls) {
      tls = TlsFiles.create(folder());
    }
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
    return host() + ":" + port(2);
  }

  @Override
  protected List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(Debian.program("etcd", "etcd-server"));
    command.add("--name=" + member);
    command.add("--data-dir=" + folder().resolve("data"));
    TlsFiles files = tls;
    if (files == null) {
      command.add("--listen-client-urls=" + endpoint());
    } else {
      command.add("--listen-client-urls=" + endpoint() + ",https://" + tlsAddress());
      command.add("--cert-file=" + files.certificate());
      command.add("--key-file=" + files.key());
      command.add("--trusted-ca-file=" + files.caCertificate());
      command.add("--client-cert-auth");
    }
    command.add("--advertise-client-urls=" + endpoint());
    command.add("--listen-peer-urls=http://" + host() + ":" + port(1));
    command.add("--initial-advertise-peer-urls=" + peerUrl());
    command.add(
        "--initial-cluster="
            + String.join(
                ",", members.stream().map(peer -> peer.member + "=" + peer.peerUrl()).toList()));
    command.add("--initial-cluster-token=fenceline-" + members.get(0).port(1));
    command.addAll(options);
    return command;
  }

  /** A member is healthy when it knows a leader. */
  @Override
  protected boolean answers() throws IOException {
    return Http.get(endpoint() + "/health").contains("\"true\"");
  }

  /** The URL for clients. */
  public String endpoint() {
    return "http://" + address();
  }

  /** Where the other members reach this one. */
  private String peerUrl() {
    FaultProxy proxy = peerProxy;
    return "http://" + (proxy == null ? host() + ":" + port(1) : proxy.address());
  }

  /** What stands between this member and those that call it. */
  FaultProxy peerProxy() {
    FaultProxy proxy = peerProxy;
    if (proxy == null) {
      throw new IllegalStateException(this + " was started without peer proxies");
    }
    return proxy;
  }

  @Override
  protected void closeMore() {
    FaultProxy proxy = peerProxy;
    if (proxy != null) {
      proxy.close();
    }
  }

  /** Whether this member says that it is the leader. */
  public boolean isLeader() {
    return metric("etcd_server_is_leader") == 1;
  }

  /** Whether this member knows a leader; without one it serves nobody. */
  public boolean hasLeader() {
    return metric("etcd_server_has_leader") == 1;
  }

  /**
   * How often a method of etcd's API was called, such as {@code Txn}, {@code LeaseGrant}; streams
   * ({@code Watch}, {@code LeaseKeepAlive}) count when they are opened.
   */
  public long rpcCount(String method) {
    return rpcs("grpc_server_started_total", method);
  }

  /** How many streams of a method, such as {@code Watch}, the server has open. */
  public long openStreams(String method) {
    // Those that have ended are counted first, so that the difference is never negative.
    long ended = rpcs("grpc_server_handled_total", method);
    return rpcs("grpc_server_started_total", method) - ended;
  }

  private long rpcs(String counter, String method) {
    String name = "grpc_method=\"" + method + "\"";
    return (long)
        metrics()
            .filter(line -> line.startsWith(counter + "{") && line.contains(name))
            .mapToDouble(EtcdServer::value)
            .sum();
  }

  private double metric(String name) {
    return metrics()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(EtcdServer::value)
        .sum();
  }

  private Stream<String> metrics() {
    try {
      return Http.get(endpoint() + "/metrics").lines();
    } catch (IOException e) {
      throw new UncheckedIOException(toString(), e);
    }
  }

  private static double value(String line) {
    return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
  }

  /** Runs etcdctl against this member and returns its output. */
  public String etcdctl(String... words) {
    List<String> command = new ArrayList<>();
    command.add(Debian.program("etcdctl", "etcd-client"));
    command.add("--endpoints=" + endpoint());
    command.addAll(List.of(words));
    return Tool.run(RunAs.self(), Map.of("ETCDCTL_API", "3"), command).strip();
  }
}
