package io.fenceline.testbed.proxy;

import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testkit.harness.SlowNetwork;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * A proxy before each of several servers, all of them slow at once: a client that heard one of them
 * would notice nothing.
 */
public final class FaultProxies implements SlowNetwork {
  private final List<ServerProcess> servers;
  private final List<FaultProxy> proxies;

  private FaultProxies(List<ServerProcess> servers, List<FaultProxy> proxies) {
    this.servers = servers;
    this.proxies = proxies;
  }

  /** Opens a proxy before each of some servers. */
  public static FaultProxies before(List<? extends ServerProcess> servers, Protocol protocol) {
    List<FaultProxy> proxies = new ArrayList<>();
    servers.forEach(server -> proxies.add(FaultProxy.to(server.host(), server.port(), protocol)));
    return new FaultProxies(List.copyOf(servers), proxies);
  }

  /** The addresses for clients, in the order of the servers. */
  public List<String> addresses() {
    return proxies.stream().map(FaultProxy::address).toList();
  }

  /** The port of the proxy before a server; any other port as it is. */
  public int portBefore(int port) {
    for (int i = 0; i < proxies.size(); i++) {
      if (servers.get(i).port() == port) {
        return proxies.get(i).port();
      }
    }
    return port;
  }

  private KeptBack atEach(Function<FaultProxy, KeptBack> fault) {
    List<KeptBack> all = proxies.stream().map(fault).toList();
    return new KeptBack() {
      @Override
      public long timesApplied() {
        return all.stream().mapToLong(KeptBack::timesApplied).sum();
      }

      @Override
      public void lift() {
        all.forEach(KeptBack::lift);
      }
    };
  }

  /** Keeps back the reply to one request at each of the servers. */
  @Override
  public KeptBack holdReply(int request) {
    return atEach(proxy -> proxy.holdReply(request));
  }

  @Override
  public KeptBack holdReplies() {
    return atEach(FaultProxy::holdReplies);
  }

  @Override
  public void heal() {
    proxies.forEach(FaultProxy::heal);
  }

  @Override
  public void close() {
    proxies.forEach(FaultProxy::close);
  }
}
