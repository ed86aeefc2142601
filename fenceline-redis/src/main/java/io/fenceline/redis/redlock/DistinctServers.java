package io.fenceline.redis.redlock;

import java.util.HashMap;
import java.util.Map;

/**
 * To which servers the nodes of a Redlock are connected: no two of them to the same one.
 *
 * <p>An address may come to lead to the server of another node, by DNS or because the address was
 * given away. That server would have two votes: of three, a majority by itself, while others reach
 * a majority without it. Thread-safe.
 */
final class DistinctServers {
  /** A node, and how many connections it has to one run of a server. */
  private static final class Use {
    final Node node;
    int connections;

    Use(Node node) {
      this.node = node;
    }
  }

  // Guarded by this: by the id that Redis draws whenever a server starts.
  private final Map<String, Use> byRun = new HashMap<>();

  /** A node's address leads to the server of another node. */
  static final class SameServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private SameServerException(Node other) {
      super("it is the server of node " + other + "; list each server once", null, false, false);
    }
  }

  /**
   * A node has one more connection to a run of a server.
   *
   * @throws SameServerException if another node has one
   */
  synchronized void connected(Node node, String run) {
    Use use = byRun.computeIfAbsent(run, any -> new Use(node));
    if (use.node != node) {
      throw new SameServerException(use.node);
    }
    use.connections++;
  }

  /** A connection of a node is gone. */
  synchronized void disconnected(String run) {
    byRun.computeIfPresent(run, (any, use) -> --use.connections == 0 ? null : use);
  }
}
