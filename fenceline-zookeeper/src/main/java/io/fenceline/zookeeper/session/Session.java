package io.fenceline.zookeeper.session;

import io.fenceline.FencelineException;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.Validity;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * One session with ZooKeeper: until when it surely lives, and who waits for its events.
 *
 * <p>It is the watcher of every watch that is set on it: claims that come and go while a node stays
 * share one watch, at the client and at the server.
 */
public final class Session implements Watcher {
  /*
   * The holder of a long queue changes its node and deletes it in one transaction. Its watchers
   * hear of both, of the change by a watch of the data and of the deletion by a watch of the children,
   * with the transaction's number in each event. Anyone may change a node, and a waiter that gives up
   * deletes its node, too; but not in one transaction. Servers before 3.9 do not tell the number: there
   * a deletion says only that the node is gone.
   *
   * "The order of watch events from ZooKeeper corresponds to the order of the updates as seen by the
   * ZooKeeper service" (Programmer's Guide, What ZooKeeper Guarantees about Watches). That holds for one
   * connection. After a reconnect the server goes through the watches in whatever order the client sent
   * them. So connections are counted, and a list that was read on an earlier connection is no ground to
   * take an event for a grant.
   */

  /** Waits for the events of a node. Called on ZooKeeper's event thread, in the order of events. */
  public interface NodeWatcher {
    /** The data of a node were changed. */
    void changed(String path);

    /**
     * A node was deleted.
     *
     * @param handedOver whether its owner is known to have had the name
     */
    void deleted(String path, boolean handedOver);
  }

  /** Hears of every event before any {@link NodeWatcher} does. */
  public interface Listener {
    /** Something has happened to a node. */
    void nodeChanged(String path);

    /** The connection was lost or made, or the session has ended. */
    void connectionChanged();
  }

  public final ZooKeeper zk;
  private final StoreContext context;
  private final String description;
  private final Duration tick;
  private final Consumer<Session> whenEnded;
  private final List<Listener> listeners = new CopyOnWriteArrayList<>();

  // Guarded by this.
  private final SessionProof proof;
  private final Map<String, List<NodeWatcher>> watched = new HashMap<>();
  private final Map<String, Long> changed = new HashMap<>();
  private volatile boolean ended;

  // Written by ZooKeeper's event thread only.
  private volatile int connection;

  Session(
      ZooKeeper zk,
      StoreContext context,
      String description,
      @Nullable Moment born,
      Duration tick,
      Consumer<Session> whenEnded) {
    this.zk = zk;
    this.context = context;
    this.description = description;
    this.tick = tick;
    this.proof = new SessionProof(born, tick.toNanos());
    this.whenEnded = whenEnded;
  }

  /** Returns how long ZooKeeper keeps the session without hearing of it, as it was agreed on. */
  public int timeoutMillis() {
    return zk.getSessionTimeout();
  }

  public long id() {
    return zk.getSessionId();
  }

  public boolean hasEnded() {
    return ended;
  }

  /** The session is over: nothing that was made in it is ours any more. */
  void end() {
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
      watched.clear();
      changed.clear();
    }
    listeners.forEach(Listener::connectionChanged);
    whenEnded.accept(this);
  }

  // Until when it lives. ------------------------------------------------------------------------

  /** A write on this session was answered. */
  synchronized void answered(Moment sent) {
    proof.answered(sent, context.time().nanos(), timeoutMillis() * 1_000_000L);
  }

  public synchronized long nanosToNextProof() {
    return proof.nanosToNextProof(context.time().nanos());
  }

  public synchronized long remainingNanos(Moment now) {
    return ended ? 0 : proof.remainingNanos(now, timeoutMillis() * 1_000_000L);
  }

  /** Returns how much of a lease a healthy session has left at any time. */
  public long leastNanos(Duration lease) {
    Duration longest = Heartbeat.longestLease(Duration.ofMillis(timeoutMillis()), tick);
    return Math.min(lease.toNanos(), longest.toNanos()) / 2;
  }

  /** Returns a lease that counts from then on, cut to what is proven of the session by now. */
  public Validity validity(Moment from, Duration lease) {
    Moment now = context.time().now();
    long proven = now.nanos() - from.nanos() + remainingNanos(now);
    long length = Math.max(0, Math.min(lease.toNanos(), proven));
    return new Validity(from, Duration.ofNanos(length));
  }

  // Events. -------------------------------------------------------------------------------------

  /** Returns the number of this connection; each loss and each reconnect changes it. */
  public int connection() {
    return connection;
  }

  public void addListener(Listener listener) {
    listeners.add(listener);
  }

  /** Registers for the next event of a node; the caller then sets the watch. */
  public synchronized void register(NodeWatcher watcher, String path) {
    List<NodeWatcher> waiting = watched.computeIfAbsent(path, node -> new ArrayList<>(1));
    if (!waiting.contains(watcher)) {
      waiting.add(watcher);
    }
  }

  public synchronized void unregister(NodeWatcher watcher, String path) {
    List<NodeWatcher> waiting = watched.get(path);
    if (waiting != null) {
      waiting.remove(watcher);
      if (waiting.isEmpty()) {
        watched.remove(path);
        changed.remove(path);
      }
    }
  }

  @Override
  public void process(WatchedEvent event) {
    if (event.getType() == Event.EventType.None) {
      connectionChanged();
      if (event.getState() == Event.KeeperState.Expired
          || event.getState() == Event.KeeperState.Closed) {
        end();
      }
      return;
    }
    listeners.forEach(listener -> listener.nodeChanged(event.getPath()));
    if (event.getType() == Event.EventType.NodeDataChanged) {
      changed(event.getPath(), event.getZxid());
    } else {
      deleted(event.getPath(), event.getZxid());
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread tells of all events.
  private void connectionChanged() {
    synchronized (this) {
      changed.clear();
    }
    connection++;
    listeners.forEach(Listener::connectionChanged);
  }

  private void changed(String path, long zxid) {
    List<NodeWatcher> told;
    synchronized (this) {
      List<NodeWatcher> waiting = watched.get(path);
      if (waiting == null) {
        return;
      }
      changed.put(path, zxid);
      told = List.copyOf(waiting);
    }
    told.forEach(watcher -> watcher.changed(path));
  }

  private void deleted(String path, long zxid) {
    List<NodeWatcher> told;
    Long changedBy;
    synchronized (this) {
      told = watched.remove(path);
      changedBy = changed.remove(path);
    }
    if (told != null) {
      boolean handedOver = zxid > 0 && changedBy != null && changedBy == zxid;
      told.forEach(watcher -> watcher.deleted(path, handedOver));
    }
  }

  /** Returns the exception for an answer's code; an expired session ends by it. */
  public FencelineException failure(String what, int code) {
    KeeperException.Code meaning = KeeperException.Code.get(code);
    if (meaning == KeeperException.Code.SESSIONEXPIRED) {
      end();
    }
    return Failures.of(description, what, meaning);
  }
}
