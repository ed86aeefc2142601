package io.fenceline.redis;

import io.fenceline.spi.StoreContext;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the topology that settings ask for. */
final class Topologies {
  private Topologies() {}

  /** How the servers belong together. */
  enum Kind {
    SINGLE,
    SENTINEL,
    CLUSTER
  }

  /**
   * Where the servers are, and how to talk to them.
   *
   * @param uris one for a single server or Sentinel, the first to ask for a Cluster
   * @param resources event loops and the like that the user has already; null for own ones
   * @param description for messages, without secrets
   */
  record Settings(
      Kind kind,
      List<RedisURI> uris,
      ClientOptions options,
      @Nullable ClientResources resources,
      String description) {

    /** The same for a server that turned out to be part of a Cluster. */
    Settings asCluster() {
      return new Settings(Kind.CLUSTER, uris, options, resources, description);
    }
  }

  static Topology of(
      Settings settings, Driver driver, StoreContext context, Topology.Listener listener) {
    Deadlines deadlines = new Deadlines(context.time(), context.operationTimeout().toNanos());
    // Tells the clients of one server apart, so that each hears its own messages only.
    String clientId = HexFormat.of().toHexDigits(context.random().nextLong());
    if (settings.kind() == Kind.CLUSTER) {
      ClusterMap.Servers servers =
          (uri, whenBroken, greeting) ->
              new Server(
                  uri.getHost() + ":" + uri.getPort(),
                  driver,
                  uri,
                  context,
                  deadlines,
                  listener,
                  whenBroken,
                  greeting);
      ClusterMap map = new ClusterMap(settings.uris(), servers, context, deadlines);
      return new ClusterTopology(map, deadlines, context, clientId, settings.description());
    }
    Server server =
        new Server(
            settings.description(),
            driver,
            settings.uris().get(0),
            context,
            deadlines,
            listener,
            () -> {});
    return new SingleTopology(server, context, clientId);
  }
}
