package io.fenceline.zookeeper.session;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/** The session of now: Curator makes a new one when the old one has ended, and this notices. */
public final class Sessions implements ConnectionStateListener {
  private final CuratorFramework client;
  private final StoreContext context;
  private final String description;
  private final Duration tick;
  private final Consumer<Session> whenEnded;

  private volatile @Nullable Session current;

  // Guarded by this: a moment when the session of now was not there yet.
  private @Nullable Moment before;

  /**
   * No session yet.
   *
   * @param before a moment before the client was started; null if that is not known
   */
  public Sessions(
      CuratorFramework client,
      StoreContext context,
      String description,
      @Nullable Moment before,
      Duration tick,
      Consumer<Session> whenEnded) {
    this.client = client;
    this.context = context;
    this.description = description;
    this.before = before;
    this.tick = tick;
    this.whenEnded = whenEnded;
  }

  public void start() {
    client.getConnectionStateListenable().addListener(this);
  }

  public void stop() {
    client.getConnectionStateListenable().removeListener(this);
  }

  /**
   * The session to ask on.
   *
   * @throws StoreUnavailableException if there is none, because no server was reached for long
   */
  public Session current() {
    ZooKeeper zk;
    try {
      zk = client.getZookeeperClient().getZooKeeper();
    } catch (Exception e) {
      throw new StoreUnavailableException(description, "No ZooKeeper server can be reached", e);
    }
    Session known = current;
    if (known != null && known.zk == zk) {
      if (known.hasEnded()) {
        throw unavailable("The session has just ended");
      }
      return known;
    }
    return renewed(zk);
  }

  /**
   * As {@link #current}, for claims: while there is no connection they would be kept back by
   * ZooKeeper's client, and their leases would run before they are sent.
   */
  public Session connected() {
    Session session = current();
    if (!session.zk.getState().isConnected()) {
      throw unavailable("There is no connection to a ZooKeeper server at the moment");
    }
    return session;
  }

  /**
   * The session of a handle that Curator has given. Whoever asked for it may have been held up
   * since: one that was replaced is closed before the next one is given to anybody, and says
   * nothing of the session of now.
   */
  public Session renewed(ZooKeeper zk) {
    Session old;
    Session made;
    Moment seen = context.time().now(); // Before the look: the next session is not there yet.
    synchronized (this) {
      old = current;
      if (old != null && old.zk == zk) {
        return old;
      }
      if (!zk.getState().isAlive()) {
        throw unavailable("The session has just ended");
      }
      made = new Session(zk, context, description, before, tick, whenEnded);
      current = made;
      before = seen;
    }
    if (old != null) {
      old.end();
    }
    return made;
  }

  /** Whoever sees the session of now, sees that the next one is not there yet. */
  synchronized void seen(Session session, Moment when) {
    if (session == current) {
      before = when;
    }
  }

  /** Returns the exception for a request that was not answered, or not sent. */
  public StoreUnavailableException unavailable(String what) {
    return new StoreUnavailableException(description, what, null);
  }

  /** Returns what the runtime can act on: our own exceptions as they are, others as "no answer". */
  public RuntimeException meaning(Throwable failure) {
    return Failures.meaning(description, failure);
  }

  @Override
  public void stateChanged(CuratorFramework changed, ConnectionState state) {
    // By the time that this is heard, the handle of a lost session has been replaced. What is heard
    // may be old news, so it is never taken as news of the session that is there now.
    if (state == ConnectionState.LOST || state == ConnectionState.RECONNECTED) {
      try {
        Session unused = current();
      } catch (StoreUnavailableException e) {
        // Whoever asks for the session hears of it, too.
      }
    }
  }
}
