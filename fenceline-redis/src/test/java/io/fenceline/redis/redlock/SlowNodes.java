package io.fenceline.redis.redlock;

import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.harness.SlowNetwork;
import java.util.List;
import java.util.function.Function;

/** A proxy before each node, all of them slow at once: with a majority heard, nothing is slow. */
final class SlowNodes implements SlowNetwork {
  private final List<FaultProxy> proxies;

  SlowNodes(List<RedisServer> nodes) {
    proxies =
        nodes.stream().map(node -> FaultProxy.to(node.host(), node.port(), Protocol.RESP)).toList();
  }

  List<String> addresses() {
    return proxies.stream().map(FaultProxy::address).toList();
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
