package io.fenceline.runtime;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Threads that start when there is work and none of them is idle, and end after a while without.
 *
 * <p>A {@code ThreadPoolExecutor} can't do both: it prefers either a new thread or its queue, and
 * can only be talked out of it by a queue that lies about what it was offered, which the JDK does
 * not support.
 */
final class Workers implements Executor {
  /*
   * What would break it, and why it can't:
   *
   * - A task that no thread takes: that a thread ends, and that the queue is empty then, is decided
   *   under the lock that tasks are added under. Whoever adds one finds an idle thread for it, starts
   *   one, or knows that all are busy, and those look at the queue before they end.
   * - A thread that can't be started, for want of memory: its task is in the queue by then, and waits
   *   for another thread, or for the next try to start one. Whoever handed it in has other things to
   *   do, and must not be kept from them.
   * - A thread that dies: its place is free again, and another takes it if there is work.
   * - An idle thread that is counted twice: it is counted until it runs again, also when it was
   *   signalled; a task is left to the idle ones only while there are no more tasks than them.
   */
  private final int most;
  private final long idleNanos;
  private final ThreadFactory factory;
  private final Consumer<Runnable> later;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition added = lock.newCondition();

  // Guarded by the lock.
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private int threads;
  private int idle;
  private boolean triesAgain;
  private boolean closed;

  Workers(int most, long idleTime, TimeUnit unit, ThreadFactory factory) {
    this(most, idleTime, unit, factory, again -> {});
  }

  /**
   * No threads yet.
   *
   * @param later runs something after a while: the next try to start a thread
   */
  Workers(int most, long idleTime, TimeUnit unit, ThreadFactory factory, Consumer<Runnable> later) {
    this.later = later;
    this.most = most;
    this.idleNanos = unit.toNanos(idleTime);
    this.factory = factory;
  }

  /**
   * Runs a task on one of the threads; later, if none can be started now.
   *
   * @throws RejectedExecutionException if this is closed
   */
  @Override
  public void execute(Runnable task) {
    lock.lock();
    try {
      if (closed) {
        throw new RejectedExecutionException("closed");
      }
      tasks.add(task);
      if (!needsThread()) {
        added.signal();
        return;
      }
      threads++;
    } finally {
      lock.unlock();
    }
    start();
  }

  /** Starts a thread that was counted. */
  private void start() {
    try {
      factory.newThread(this::work).start();
    } catch (Throwable e) { // The machine says so itself, on the console: no more are to be had.
      lock.lock();
      try {
        threads--;
        if (triesAgain || closed) {
          return;
        }
        triesAgain = true;
      } finally {
        lock.unlock();
      }
      later.accept(this::startAgain);
    }
  }

  private void startAgain() {
    lock.lock();
    try {
      triesAgain = false;
      if (!needsThread()) {
        return;
      }
      threads++;
    } finally {
      lock.unlock();
    }
    start();
  }

  private boolean needsThread() {
    return tasks.size() > idle && threads < most;
  }

  private void work() {
    boolean ended = false;
    try {
      Runnable task;
      while ((task = next()) != null) {
        run(task);
      }
      ended = true;
    } finally {
      if (!ended) {
        replace();
      }
    }
  }

  /** As a thread of its own would: what it throws is reported, and ends nothing else. */
  private static void run(Runnable task) {
    boolean unused = Thread.interrupted(); // Meant for the task before, if for any.
    try {
      task.run();
    } catch (Throwable e) {
      report(e);
    }
  }

  /** Reports what nobody is there to catch. */
  static void report(Throwable thrown) {
    Thread thread = Thread.currentThread();
    try {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    } catch (Throwable e) {
      // As the machine does: what the handler throws is of no concern.
    }
  }

  /** The calling thread dies, by something that was not a task's; another takes its place. */
  private void replace() {
    lock.lock();
    try {
      threads--;
      if (!needsThread()) {
        return;
      }
      threads++;
    } finally {
      lock.unlock();
    }
    start();
  }

  /** The next task; null if the thread is to end. */
  private @Nullable Runnable next() {
    lock.lock();
    try {
      long left = idleNanos;
      while (tasks.isEmpty() && !closed && left > 0) {
        idle++;
        try {
          left = added.awaitNanos(left);
        } catch (InterruptedException e) {
          // Meant for a task that is over.
        } finally {
          idle--;
        }
      }
      Runnable task = tasks.poll();
      if (task == null) {
        threads--;
      }
      return task;
    } finally {
      lock.unlock();
    }
  }

  /** Takes no more tasks; those that wait still run. */
  void close() {
    lock.lock();
    try {
      closed = true;
      added.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** How many threads wait for work; for tests. */
  int idle() {
    lock.lock();
    try {
      return idle;
    } finally {
      lock.unlock();
    }
  }

  /** Likewise, how many there are. */
  int threads() {
    lock.lock();
    try {
      return threads;
    } finally {
      lock.unlock();
    }
  }
}
