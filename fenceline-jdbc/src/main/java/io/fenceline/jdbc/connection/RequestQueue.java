package io.fenceline.jdbc.connection;

import io.fenceline.time.Time;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait for a connection, as many at once as there are connections: made by the
 * threads of their callers, or handed to other threads.
 *
 * <p>They wait in the order in which they came, but a place that is free goes to whoever is here
 * already. To keep it for a thread that has yet to wake up would leave a connection idle each time,
 * while the thread that has just left comes back with its next request. Once the first in line has
 * been passed over for {@link #PASSED_OVER_NANOS}, one place in {@link #KEPT_OF} is kept for it:
 * not each, since then all would wait for threads to wake up where there are many of them.
 */
final class RequestQueue implements Executor {
  /*
   * What would break it, and why it can't:
   *
   * - A request that is left behind while a place is free: whoever frees a place, or takes one, or
   *   leaves the line, calls offer() under the same lock. It wakes the caller who is first, who then
   *   looks for a place, or starts a thread for a task.
   * - A caller who was woken for a place that is gone when it looks: it says under the lock that it
   *   is not woken any more before it waits again, so the next place wakes it again.
   * - A place that nobody has: a caller that gives up finds out, under that lock, whether it was
   *   given one meanwhile. Whatever is thrown while it waits, it passes the place on; and a place for
   *   which no thread can be started is nobody's.
   * - A caller that gives up and has to begin anew: its request stays where it is in the line, and is
   *   another thread's from then on.
   */
  private static final long PASSED_OVER_NANOS = 10_000_000;

  private static final int KEPT_OF = 8;

  private final Executor threads;
  private final Time time;
  private final int most;
  private final Runnable work = this::work;

  // Guarded by this.
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private int running;
  private int sinceKept = KEPT_OF;

  /** A request that has no place yet. */
  private static final class Waiting {
    final Thread caller = Thread.currentThread();
    final long sinceNanos;

    /** What another thread does; null while the caller means to do it. Guarded by the queue. */
    @Nullable Runnable task;

    /** Whether its caller is about to look for a place. Guarded by the queue. */
    boolean isWoken;

    /** Whether a place was kept for its caller. Guarded by the queue. */
    boolean hasPlace;

    Waiting(@Nullable Runnable task, long sinceNanos) {
      this.task = task;
      this.sinceNanos = sinceNanos;
    }
  }

  RequestQueue(Executor threads, Time time, int most) {
    this.threads = threads;
    this.time = time;
    this.most = most;
  }

  /**
   * Under the lock: sees to it that a free place is used.
   *
   * @return whether a thread has to be started for a place, which is taken
   */
  private boolean offer() {
    Waiting first = waiting.peek();
    if (first == null || running == most) {
      return false;
    }
    if (first.task != null) {
      running++;
      return true;
    }
    wake(first);
    return false;
  }

  private static void wake(Waiting first) {
    if (!first.isWoken) {
      first.isWoken = true;
      LockSupport.unpark(first.caller);
    }
  }

  /** Under the lock: a place is free, or kept for the first in line; as {@link #offer}. */
  private boolean free() {
    Waiting first = waiting.peek();
    if (first != null
        && first.task == null
        && time.nanos() - first.sinceNanos >= PASSED_OVER_NANOS
        && ++sinceKept >= KEPT_OF) {
      sinceKept = 0;
      waiting.poll();
      first.hasPlace = true;
      wake(first);
      return false;
    }
    running--;
    return offer();
  }

  // Other threads. ------------------------------------------------------------------------------

  /** Hands a request to another thread. */
  @Override
  public void execute(Runnable request) {
    boolean starts;
    synchronized (this) {
      waiting.add(new Waiting(request, time.nanos()));
      starts = offer();
    }
    startThreadIf(starts);
  }

  /** Starts a thread for a place that is taken. */
  private void startThreadIf(boolean starts) {
    if (!starts) {
      return;
    }
    boolean started = false;
    try {
      threads.execute(work);
      started = true;
    } finally {
      if (!started) {
        synchronized (this) {
          running--;
        }
      }
    }
  }

  private void work() {
    Runnable request;
    while ((request = next()) != null) {
      try {
        request.run();
      } catch (RuntimeException | Error e) {
        startThreadIf(true); // This thread is done for; the others must not wait for it.
        throw e;
      }
    }
  }

  /** What this thread does next; null if its place is free again, or another's. */
  private @Nullable Runnable next() {
    synchronized (this) {
      Waiting first = waiting.peek();
      if (first != null && first.task != null) {
        waiting.poll();
        return first.task;
      }
      free(); // Nobody is first whose task needs a thread.
      return null;
    }
  }

  // Callers' own threads. -----------------------------------------------------------------------

  /** Takes a place in which this thread makes its own request, if one is free. */
  synchronized boolean enterNow() {
    if (running == most) {
      return false;
    }
    running++;
    return true;
  }

  /**
   * Waits for a place in which this thread may make its own request; {@link #leave} gives it back.
   * If there is none in time, or the thread is interrupted, another thread does something instead,
   * in the turn of this one.
   *
   * @return whether this thread has a place
   */
  boolean enter(long mostNanos, Runnable instead) {
    Waiting self;
    long now = time.nanos();
    synchronized (this) {
      if (running < most) {
        running++;
        return true;
      }
      self = new Waiting(null, now);
      waiting.add(self);
    }
    boolean settled = false;
    try {
      boolean entered = take(self);
      long left = mostNanos;
      while (!entered && left > 0 && !Thread.currentThread().isInterrupted()) {
        time.park(this, left);
        entered = take(self);
        left = now + mostNanos - time.nanos();
      }
      entered = entered || !leaveTo(self, instead);
      settled = true;
      return entered;
    } finally {
      if (!settled) {
        abandon(self);
      }
    }
  }

  /** Takes a place if one is kept for this caller, or is free and it is first. */
  private boolean take(Waiting self) {
    boolean starts;
    synchronized (this) {
      if (self.hasPlace) {
        return true;
      }
      if (running == most || waiting.peek() != self) {
        self.isWoken = false;
        return false;
      }
      waiting.poll();
      self.hasPlace = true;
      running++;
      starts = offer(); // Of several places that became free, the first one has woken it.
    }
    startThreadIf(starts);
    return true;
  }

  /** Whether another thread does it; not if there is a place all the same. */
  private boolean leaveTo(Waiting self, Runnable instead) {
    boolean starts;
    synchronized (this) {
      if (self.hasPlace) {
        return false;
      }
      self.task = instead;
      starts = offer();
    }
    startThreadIf(starts);
    return true;
  }

  /** There will be no request. */
  private void abandon(Waiting self) {
    boolean starts;
    synchronized (this) {
      starts = (self.hasPlace || !waiting.remove(self)) ? free() : offer();
    }
    startThreadIf(starts);
  }

  /** This thread's own request was made. */
  void leave() {
    boolean starts;
    synchronized (this) {
      starts = free();
    }
    startThreadIf(starts);
  }
}
