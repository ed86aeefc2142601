package io.fenceline.jdbc.connection;

import io.fenceline.time.Time;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait for a connection, as many at once as there are connections, in the order in
 * which they came: made by the threads of their callers, or handed to other threads.
 */
final class RequestQueue implements Executor {
  /*
   * What would break it, and why it can't:
   *
   * - A request that is left behind: whoever adds one starts a thread for it, unless as many as may
   *   run do so; and each of those looks for another one before it ends, under the same lock.
   * - A place that nobody has: a caller that gives up finds out, under that lock, whether it was
   *   given one meanwhile. Whatever is thrown while it waits, it passes the place on; and a place for
   *   which no thread can be started is nobody's.
   * - A caller that gives up and has to begin anew: its request stays where it is in the line, and is
   *   another thread's from then on.
   */
  private final Executor threads;
  private final Time time;
  private final int most;
  private final Runnable work = this::work;

  // Guarded by this.
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private int running;

  /** A request that has no place yet. */
  private static final class Waiting {
    final Thread caller = Thread.currentThread();

    /** What another thread does; null while the caller means to do it. Guarded by the queue. */
    @Nullable Runnable task;

    volatile boolean hasPlace;

    Waiting(@Nullable Runnable task) {
      this.task = task;
    }
  }

  RequestQueue(Executor threads, Time time, int most) {
    this.threads = threads;
    this.time = time;
    this.most = most;
  }

  // Other threads. ------------------------------------------------------------------------------

  /** Hands a request to another thread. */
  @Override
  public void execute(Runnable request) {
    synchronized (this) {
      waiting.add(new Waiting(request));
      if (running == most) {
        return;
      }
      running++;
    }
    startThread();
  }

  /** Starts a thread for a place that is taken. */
  private void startThread() {
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
        startThread(); // This thread is done for; the others must not wait for it.
        throw e;
      }
    }
  }

  /** What this thread does next; null if its place is another's now, or nobody's. */
  private synchronized @Nullable Runnable next() {
    Waiting next = waiting.poll();
    if (next != null && next.task != null) {
      return next.task;
    }
    pass(next);
    return null;
  }

  /** Under the lock: gives a place to a caller, or to nobody. */
  private void pass(@Nullable Waiting next) {
    if (next == null) {
      running--;
    } else {
      next.hasPlace = true;
      LockSupport.unpark(next.caller);
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
    synchronized (this) {
      if (running < most) {
        running++;
        return true;
      }
      self = new Waiting(null);
      waiting.add(self);
    }
    boolean settled = false;
    try {
      long end = time.nanos() + mostNanos;
      while (!self.hasPlace) {
        long left = end - time.nanos();
        if (left <= 0 || Thread.currentThread().isInterrupted()) {
          break;
        }
        time.park(this, left);
      }
      boolean entered = self.hasPlace || !leaveTo(self, instead);
      settled = true;
      return entered;
    } finally {
      if (!settled) {
        abandon(self);
      }
    }
  }

  /** Whether another thread does it; not if there is a place all the same. */
  private synchronized boolean leaveTo(Waiting self, Runnable instead) {
    if (!self.hasPlace) {
      self.task = instead;
    }
    return !self.hasPlace;
  }

  /** There will be no request. */
  private void abandon(Waiting self) {
    boolean hasPlace;
    synchronized (this) {
      hasPlace = self.hasPlace || !waiting.remove(self);
    }
    if (hasPlace) {
      leave();
    }
  }

  /** This thread's own request was made. */
  void leave() {
    synchronized (this) {
      Waiting next = waiting.peek();
      if (next == null || next.task == null) {
        pass(waiting.poll());
        return;
      }
    }
    startThread();
  }
}
