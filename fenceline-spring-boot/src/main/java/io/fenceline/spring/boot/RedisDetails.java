package io.fenceline.spring.boot;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/**
 * How the application is connected to Redis, as its connection details say.
 *
 * @param nodes of Redis, of the Sentinels, or of the Cluster
 * @param master what Sentinels call it; null without them
 */
public record RedisDetails(
    Kind kind,
    List<Node> nodes,
    int database,
    @Nullable String username,
    @Nullable String password,
    @Nullable String master,
    @Nullable String sentinelUsername,
    @Nullable String sentinelPassword,
    @Nullable SslBundle ssl) {

  /** How the servers stand to each other. */
  public enum Kind {
    /** One server. */
    STANDALONE,
    /** A master that Sentinels know. */
    SENTINEL,
    /** A Cluster. */
    CLUSTER
  }

  /** Where a server is. */
  public record Node(String host, int port) {}

  /** Copies the list. */
  public RedisDetails {
    nodes = List.copyOf(nodes);
  }

  /** Without secrets. */
  @Override
  public String toString() {
    return kind + " " + nodes;
  }
}
