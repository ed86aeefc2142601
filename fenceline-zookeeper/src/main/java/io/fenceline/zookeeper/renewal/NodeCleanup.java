package io.fenceline.zookeeper.renewal;

import io.fenceline.zookeeper.claim.Claim;
import io.fenceline.zookeeper.session.Session;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * Takes the nodes of a closed store out of a session that goes on without it: the application's
 * own, which would keep them for as long as it lives.
 *
 * <p>It repeats itself until each removal is answered or the session has ended. The store's threads
 * are gone by then, so it runs on the application's client alone: on ZooKeeper's event thread, and
 * when Curator tells that there is a connection again.
 */
public final class NodeCleanup implements ConnectionStateListener {
  /*
   * What would break it, and why it can't:
   *
   * - The connection comes back between a failure and the waiting for it: whoever has failed looks
   *   whether there is a connection, after it is among those that wait. If there is none, the news of
   *   the next one is still to come, since the failure and the news are told by one thread, in order.
   * - A node turns up after its removal was answered: requests of a session that arrive by a connection
   *   that it has left are refused, so a claim that was sent before the outage has been done by the time
   *   that the line is listed, or never will be.
   * - It takes a node of the next store over the same client: nodes are found by their owner.
   * - It asks for ever: a failure that is not the connection's is repeated after the next outage only.
   */

  /** A claim that may have left a node, and the session that the node lives in. */
  private record Leftover(Claim claim, Session session) {}

  private final CuratorFramework client;

  // Guarded by this.
  private final Set<Leftover> pending = new HashSet<>();
  private final Set<Leftover> waiting = new HashSet<>();

  public NodeCleanup(CuratorFramework client) {
    this.client = client;
  }

  /** Removes what the claims have left, now or later. */
  public void start(List<Claim> claims) {
    List<Leftover> leftovers = new ArrayList<>();
    for (Claim claim : claims) {
      Session session = claim.nodesSession();
      if (session != null && !session.hasEnded()) {
        leftovers.add(new Leftover(claim, session));
      }
    }
    if (leftovers.isEmpty()) {
      return;
    }
    synchronized (this) {
      pending.addAll(leftovers);
    }
    client.getConnectionStateListenable().addListener(this);
    leftovers.forEach(this::remove);
  }

  private void remove(Leftover leftover) {
    leftover
        .claim
        .purge(leftover.session)
        .whenComplete(
            (removed, failure) -> {
              if (failure == null || leftover.session.hasEnded()) {
                left(leftover);
              } else {
                failed(leftover, failure);
              }
            });
  }

  private void failed(Leftover leftover, Throwable failure) {
    synchronized (this) {
      waiting.add(leftover);
    }
    if (isConnectionLoss(failure) && leftover.session.zk.getState().isConnected()) {
      removeWaiting();
    }
  }

  private static boolean isConnectionLoss(@Nullable Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof KeeperException.ConnectionLossException) {
        return true;
      }
    }
    return false;
  }

  private void removeWaiting() {
    List<Leftover> due;
    synchronized (this) {
      due = List.copyOf(waiting);
      waiting.clear();
    }
    due.forEach(this::remove);
  }

  private void left(Leftover leftover) {
    boolean isLast;
    synchronized (this) {
      isLast = pending.remove(leftover) && pending.isEmpty();
    }
    if (isLast) {
      client.getConnectionStateListenable().removeListener(this);
    }
  }

  @Override
  public void stateChanged(CuratorFramework changed, ConnectionState state) {
    if (state != ConnectionState.SUSPENDED) {
      removeWaiting();
    }
  }
}
