package io.fenceline.zookeeper;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.Moment;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.Validity;
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
  final ZooKeeper zk;
  private final StoreContext context;
  private final String description;
  private final Consumer<Session> whenEnded;

  // Guarded by this.
  private final SessionProof proof;
  private final Map<String, List<Claim>> watched = new HashMap<>();
  private volatile boolean ended;

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
    }
    trails.forgetAll();
    whenEnded.accept(this);
  }

  // Proof of life. ------------------------------------------------------------------------------

  /** A write on this session was answered. */
  synchronized void answered(Moment sent) {
    proof.answered(sent, context.time().nanos());
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
      }
    }
  }

  @Override
  public void process(WatchedEvent event) {
    if (event.getType() == Event.EventType.None) {
      trails.forgetAll();
      if (event.getState() == Event.KeeperState.Expired
          || event.getState() == Event.KeeperState.Closed) {
        end();
      }
      return;
    }
    trails.forget(event.getPath());
    List<Claim> told;
    synchronized (this) {
      told = watched.remove(event.getPath());
    }
    if (told != null) {
      boolean released = event.getType() == Event.EventType.NodeDataChanged;
      told.forEach(claim -> claim.wait.left(event.getPath(), released));
    }
  }

  // Failures. -----------------------------------------------------------------------------------

  /** What an answer's code means, as an exception; an expired session ends by it. */
  StoreUnavailableException failure(String what, int code) {
    KeeperException.Code meaning = KeeperException.Code.get(code);
    if (meaning == KeeperException.Code.SESSIONEXPIRED) {
      end();
    }
    return new StoreUnavailableException(
        description, what + " failed: " + explain(meaning), KeeperException.create(meaning));
  }

  private static String explain(KeeperException.Code code) {
    return switch (code) {
      case CONNECTIONLOSS -> "the connection was lost, and the outcome is unknown";
      case SESSIONEXPIRED -> "the session had ended; all that it held is free";
      case NOAUTH -> "this client has no permission there (check the ACL and the login)";
      case QUOTAEXCEEDED -> "a quota of ZooKeeper is used up";
      default -> "ZooKeeper answered " + code;
    };
  }
}
