package io.fenceline.runtime.machine;

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
public final class Workers implements Executor {
  /*
   * What would break it, and why it can't:
   *
   * - A task that no thread takes: a thread ends only if it finds the queue empty, under the lock that
   *   tasks are added under. Whoever adds a task finds an idle thread for it, or starts one, or all
   *   are busy and will look at the queue before they end.
   * - A thread that can't be started, for want of memory: its task is in the queue already, and waits
   *   for another thread, or for the next try to start one. The caller must be able to go on with its
   *   other work.
   * - A thread that dies: its place is free again, and another takes it if there is work.
   * - An idle thread that is counted twice: it counts as idle until it runs again, also when it was
   *   signalled; tasks are left to the idle threads only while there are no more tasks than threads.
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

  /** Starts no threads yet; a thread that can't be started is not tried again. */
  public Workers(int most, long idleTime, TimeUnit unit, ThreadFactory factory) {
    this(most, idleTime, unit, factory, again -> {});
  }

  /**
   * Starts no threads yet.
   *
   * @param later schedules the next try to start a thread
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

  /** Starts a thread that is counted already. */
  private void start() {
    try {
      factory.newThread(this::work).start();
    } catch (Throwable e) { // The JVM reports it on the console: no more threads can be started.
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

  /** Runs a task; what it throws is reported, as for a thread of its own, and ends nothing else. */
  private static void run(Runnable task) {
    boolean unused = Thread.interrupted(); // An old interrupt was meant for an earlier task.
    try {
      task.run();
    } catch (Throwable e) {
      report(e);
    }
  }

  /** Reports what nobody can catch. */
  static void report(Throwable thrown) {
    Thread thread = Thread.currentThread();
    try {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    } catch (Throwable e) {
      // As in the JVM, what the handler throws is ignored.
    }
  }

  /** Starts another thread, if there is work, when this one dies of something outside a task. */
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
          // It was meant for an earlier task.
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
  public int threads() {
    lock.lock();
    try {
      return threads;
    } finally {
      lock.unlock();
    }
  }
}
