package io.fenceline.redis.connection;

import io.fenceline.spi.StoreContext;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the topology that settings ask for. */
public final class Topologies {
  private Topologies() {}

  /** How the servers belong together. */
  public enum Kind {
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
  public record Settings(
      Kind kind,
      List<RedisURI> uris,
      ClientOptions options,
      @Nullable ClientResources resources,
      String description) {

    /** The same for a server that turned out to be part of a Cluster. */
    public Settings asCluster() {
      return new Settings(Kind.CLUSTER, uris, options, resources, description);
    }
  }

  public static Topology of(
      Settings settings, Driver driver, StoreContext context, Topology.Listener listener) {
    ReplyTimeouts deadlines =
        new ReplyTimeouts(context.time(), context.operationTimeout().toNanos());
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
