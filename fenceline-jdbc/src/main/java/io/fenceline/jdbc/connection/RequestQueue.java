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
   *   given one meanwhile, and passes it on.
   */
  private final Executor threads;
  private final Time time;
  private final int most;

  // Guarded by this.
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private int running;

  private sealed interface Waiting {}

  private record Task(Runnable request) implements Waiting {}

  private static final class Caller implements Waiting {
    final Thread thread = Thread.currentThread();
    volatile boolean hasPlace;
  }

  RequestQueue(Executor threads, Time time, int most) {
    this.threads = threads;
    this.time = time;
    this.most = most;
  }

  /** Hands a request to another thread. */
  @Override
  public void execute(Runnable request) {
    synchronized (this) {
      waiting.add(new Task(request));
      if (running == most) {
        return;
      }
      running++;
    }
    threads.execute(this::work);
  }

  private void work() {
    Runnable request;
    while ((request = next()) != null) {
      try {
        request.run();
      } catch (RuntimeException | Error e) {
        threads.execute(this::work); // This thread is done for; the others must not wait for it.
        throw e;
      }
    }
  }

  /** What this thread does next; null if its place is another's now, or nobody's. */
  private synchronized @Nullable Runnable next() {
    Waiting next = waiting.poll();
    if (next instanceof Task task) {
      return task.request;
    }
    pass(next);
    return null;
  }

  /** Under the lock: gives a place to a caller, or to nobody. */
  private void pass(@Nullable Waiting next) {
    if (next instanceof Caller caller) {
      caller.hasPlace = true;
      LockSupport.unpark(caller.thread);
    } else {
      running--;
    }
  }

  /**
   * Waits for a place, in which this thread may make its own request; {@link #leave} gives it back.
   *
   * @return false if there was none before the thread was interrupted or wanted back
   */
  boolean enter(CallersThread caller) {
    Caller self;
    synchronized (this) {
      if (running < most) {
        running++;
        return true;
      }
      self = new Caller();
      waiting.add(self);
    }
    while (!self.hasPlace) {
      if (Thread.currentThread().isInterrupted() || caller.isWantedBack()) {
        return giveUp(self);
      }
      time.park(this, caller.leftNanos());
    }
    return true;
  }

  /** Whether it has a place all the same. */
  private synchronized boolean giveUp(Caller caller) {
    return caller.hasPlace || !waiting.remove(caller);
  }

  /** This thread's own request was made. */
  void leave() {
    synchronized (this) {
      if (!(waiting.peek() instanceof Task)) {
        pass(waiting.poll());
        return;
      }
    }
    threads.execute(this::work);
  }
}
