package io.fenceline.zookeeper.session;

import io.fenceline.FencelineException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * One small quorum write every sixth of the session's timeout, for however many holds; half as
 * often while there are none, so that the next claim finds a session that is known to live.
 */
public final class Heartbeat {
  static final int SHARE = 6;

  /** A little sooner than every interval, so that an answer that takes a while is not too late. */
  private static final double HASTE = 0.9;

  private static final int LISTING_EVERY = 4;
  private static final byte[] NOTHING = {};
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();

  /** Something that waits until more is proven of a session. */
  private record Waiting(Session session, long neededNanos, Runnable then) {}

  private final StoreContext context;
  private final Sessions sessions;
  private final String path;
  private final BooleanSupplier isBusy;
  private final Consumer<Session> list;

  // Guarded by this.
  private final List<Waiting> waiting = new ArrayList<>();
  private Time.@Nullable Timer timer;
  private long lastSentNanos;
  private int beats;
  private boolean closed;

  public Heartbeat(
      StoreContext context,
      Sessions sessions,
      String path,
      BooleanSupplier isBusy,
      Consumer<Session> list) {
    this.context = context;
    this.sessions = sessions;
    this.path = path;
    this.isBusy = isBusy;
    this.list = list;
  }

  /** Returns the longest lease: what a session surely lives after each of its heartbeats. */
  public static Duration longestLease(Duration timeout, Duration tick) {
    long nanos = timeout.toNanos();
    return Duration.ofNanos(nanos - nanos / SHARE - nanos / SessionProof.DRIFT_SHARE).minus(tick);
  }

  /** Sends the first one, and goes on. */
  public void start(Session session) {
    send(session);
    scheduleNext(session.timeoutMillis());
  }

  private synchronized void scheduleNext(int timeoutMillis) {
    if (!closed) {
      timer = context.time().schedule(intervalNanos(timeoutMillis), this::tick);
    }
  }

  private static long intervalNanos(int timeoutMillis) {
    return (long) (Math.max(timeoutMillis, 30) * 1_000_000L * HASTE / SHARE);
  }

  private void tick() {
    context.time().lane(Lane.RENEWAL).execute(this::beat);
  }

  private void beat() {
    int timeoutMillis = 0;
    try {
      Session session = sessions.current();
      timeoutMillis = session.timeoutMillis();
      long sinceLast;
      boolean listing;
      synchronized (this) {
        if (closed) {
          return;
        }
        sinceLast = context.time().nanos() - lastSentNanos;
        listing = ++beats % LISTING_EVERY == 0;
      }
      if (isBusy.getAsBoolean() || sinceLast >= intervalNanos(timeoutMillis) * 3 / 2) {
        send(session);
      }
      if (listing) {
        list.accept(session);
      }
    } catch (StoreUnavailableException e) {
      // No server: whoever holds something hears of it by the renewals.
    } finally {
      scheduleNext(timeoutMillis == 0 ? 1_000 : timeoutMillis);
    }
  }

  /** Writes now. */
  public void send(Session session) {
    Moment sent = context.time().now();
    synchronized (this) {
      lastSentNanos = sent.nanos();
    }
    AsyncCallback.StatCallback heard =
        (code, asked, ignored, stat) -> {
          if (code == OK || code == NO_NODE) {
            answered(session, sent);
          } else {
            FencelineException unused = session.failure("The heartbeat", code);
            giveUpOn(session);
          }
        };
    session.zk.setData(path, NOTHING, -1, heard, null);
  }

  /** A write was answered, a heartbeat or another. */
  public void answered(Session session, Moment sent) {
    session.answered(sent);
    sessions.seen(session, sent);
    runWaiting(session);
  }

  /** Does something as soon as this much is proven of the session, at once if it is. */
  public void whenProven(Session session, long neededNanos, Runnable then) {
    if (session.remainingNanos(context.time().now()) >= neededNanos) {
      then.run();
      return;
    }
    boolean first;
    synchronized (this) {
      first = waiting.isEmpty();
      waiting.add(new Waiting(session, neededNanos, then));
    }
    if (first) {
      context
          .time()
          .schedule(
              session.nanosToNextProof(),
              () -> context.time().lane(Lane.RENEWAL).execute(() -> send(session)));
    }
  }

  private void runWaiting(Session session) {
    List<Waiting> ready = new ArrayList<>(0);
    synchronized (this) {
      if (waiting.isEmpty()) {
        return;
      }
      long remaining = session.remainingNanos(context.time().now());
      waiting.removeIf(w -> w.session == session && remaining >= w.neededNanos && ready.add(w));
    }
    ready.forEach(w -> w.then.run());
  }

  /** What waits is told all the same: nothing is proven, and that is an answer. */
  public void giveUpOn(Session session) {
    List<Waiting> left = new ArrayList<>(0);
    synchronized (this) {
      waiting.removeIf(w -> w.session == session && left.add(w));
    }
    left.forEach(w -> w.then.run());
  }

  public void close() {
    synchronized (this) {
      closed = true;
      waiting.clear();
      if (timer != null) {
        timer.cancel();
      }
    }
  }
}
