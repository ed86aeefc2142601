package io.fenceline.zookeeper;

import io.fenceline.FencelineException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.Validity;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * One session with ZooKeeper: what it proves, and who waits for its events.
 *
 * <p>It is the watcher of every watch that is set on it: whoever comes and goes while a node stays
 * shares one watch, at the client and at the server.
 */
final class Session implements Watcher {
  /*
   * A holder that had waited itself changes its node and deletes it in one transaction. Its watchers
   * hear of both, of the change by a watch of the data and of the deletion by a watch of the children,
   * with the transaction's number in each event. Anyone may change a node, and one that gives up deletes
   * its node, too; but not in one transaction. Servers before 3.9 do not tell the number: there a
   * deletion says only that the node is gone.
   *
   * Events of one connection come in the order of what they tell of. After a reconnect they do not: the
   * server goes through the watches in whatever order the client sent them. So connections are counted,
   * and what was seen on an earlier one is no ground to take an event for a grant.
   */
  final ZooKeeper zk;
  private final StoreContext context;
  private final String description;
  private final Consumer<Session> whenEnded;

  // Guarded by this.
  private final SessionProof proof;
  private final Map<String, List<Claim>> watched = new HashMap<>();
  private final Map<String, Long> changed = new HashMap<>();
  private volatile boolean ended;

  // Written by ZooKeeper's event thread only.
  private volatile int connection;

  final Trails trails = new Trails(this);

  Session(
      ZooKeeper zk,
      StoreContext context,
      String description,
      @Nullable Moment born,
      long tickNanos,
      Consumer<Session> whenEnded) {
    this.zk = zk;
    this.context = context;
    this.description = description;
    this.proof = new SessionProof(born, tickNanos);
    this.whenEnded = whenEnded;
  }

  /** How long ZooKeeper keeps the session without hearing of it, as it was agreed on. */
  int timeoutMillis() {
    return zk.getSessionTimeout();
  }

  long id() {
    return zk.getSessionId();
  }

  boolean hasEnded() {
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
    trails.forgetAll();
    whenEnded.accept(this);
  }

  // Proof of life. ------------------------------------------------------------------------------

  /** A write on this session was answered. */
  synchronized void answered(Moment sent) {
    proof.answered(sent, context.time().nanos(), timeoutMillis() * 1_000_000L);
  }

  synchronized long nanosToNextProof() {
    return proof.nanosToNextProof(context.time().nanos());
  }

  synchronized long remainingNanos(Moment now) {
    return ended ? 0 : proof.remainingNanos(now, timeoutMillis() * 1_000_000L);
  }

  /** A lease that counts from then on, cut to what is proven of the session by now. */
  Validity validity(Moment from, Duration lease) {
    Moment now = context.time().now();
    long proven = now.nanos() - from.nanos() + remainingNanos(now);
    long length = Math.max(0, Math.min(lease.toNanos(), proven));
    return new Validity(from, Duration.ofNanos(length));
  }

  // Events. -------------------------------------------------------------------------------------

  /** Which connection this is; another number after each loss and each reconnect. */
  int connection() {
    return connection;
  }

  /** Tells a claim of the next event of a node; the caller then sets the watch. */
  synchronized void tell(Claim claim, String path) {
    List<Claim> waiting = watched.computeIfAbsent(path, node -> new ArrayList<>(1));
    if (!waiting.contains(claim)) {
      waiting.add(claim);
    }
  }

  synchronized void dontTell(Claim claim, String path) {
    List<Claim> waiting = watched.get(path);
    if (waiting != null) {
      waiting.remove(claim);
      if (waiting.isEmpty()) {
        watched.remove(path);
        changed.remove(path);
      }
    }
  }

  @Override
  public void process(WatchedEvent event) {
    if (event.getType() == Event.EventType.None) {
      connected();
      trails.forgetAll();
      if (event.getState() == Event.KeeperState.Expired
          || event.getState() == Event.KeeperState.Closed) {
        end();
      }
      return;
    }
    trails.forget(event.getPath());
    if (event.getType() == Event.EventType.NodeDataChanged) {
      changed(event.getPath(), event.getZxid());
    } else {
      left(event.getPath(), event.getZxid());
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread tells of all events.
  private void connected() {
    synchronized (this) {
      changed.clear();
    }
    connection++;
  }

  private void changed(String path, long zxid) {
    List<Claim> told;
    synchronized (this) {
      List<Claim> waiting = watched.get(path);
      if (waiting == null) {
        return;
      }
      changed.put(path, zxid);
      told = List.copyOf(waiting);
    }
    told.forEach(claim -> claim.wait.changed(path));
  }

  private void left(String path, long zxid) {
    List<Claim> told;
    Long changedBy;
    synchronized (this) {
      told = watched.remove(path);
      changedBy = changed.remove(path);
    }
    if (told != null) {
      boolean handedOver = zxid > 0 && changedBy != null && changedBy == zxid;
      told.forEach(claim -> claim.wait.left(path, handedOver));
    }
  }

  // Failures. -----------------------------------------------------------------------------------

  /**
   * What an answer's code means, as an exception; an expired session ends by it. What is refused
   * for good was not done.
   */
  FencelineException failure(String what, int code) {
    KeeperException.Code meaning = KeeperException.Code.get(code);
    if (meaning == KeeperException.Code.SESSIONEXPIRED) {
      end();
    }
    String text = what + " failed: " + explain(meaning);
    KeeperException cause = KeeperException.create(meaning);
    return isRefusal(meaning)
        ? new StoreRefusedException(text + " (store=" + description + ")", cause)
        : new StoreUnavailableException(description, text, cause);
  }

  private static boolean isRefusal(KeeperException.Code code) {
    return switch (code) {
      case NOAUTH, QUOTAEXCEEDED, AUTHFAILED, INVALIDACL -> true;
      default -> false;
    };
  }

  private static String explain(KeeperException.Code code) {
    return switch (code) {
      case CONNECTIONLOSS -> "the connection was lost, and the outcome is unknown";
      case SESSIONEXPIRED -> "the session had ended; all that it held is free";
      case NOAUTH, INVALIDACL -> "this client has no permission there; check the ACL and the login";
      case AUTHFAILED -> "ZooKeeper refused the login; check user and password";
      case NOTREADONLY -> "the server may only be read now; a majority of the servers is away";
      case QUOTAEXCEEDED -> "a quota of ZooKeeper is used up; raise it";
      case NONODE ->
          "its folder is gone, and could not be made again (check the ACL of those above)";
      default -> "ZooKeeper answered " + code;
    };
  }
}
