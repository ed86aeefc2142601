package io.fenceline.runtime.machine;

import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The machine's own time: the only place of the core that reads clocks and owns threads.
 *
 * <p>All threads are daemons, start when there is work, and end after a while without any.
 */
public final class SystemTime implements Time {
  private static final int WORKERS = 4;

  /** User code may block, and wait for other user code: so many tasks of it can run at once. */
  private static final int FOR_USERS = 256;

  private static final int IDLE_SECONDS = 10;

  /** Lanes whose tasks run even after the close, since someone may wait for them. */
  private static final Set<Lane> RUN_TO_THE_END =
      EnumSet.of(Lane.CALLBACK, Lane.LOSS, Lane.EVENT, Lane.REQUEST);

  /** How long to wait before trying again to start a thread. */
  private static final long TRY_AGAIN_NANOS = 100_000_000;

  private final ScheduledThreadPoolExecutor timers;
  private final Map<Lane, Workers> lanes = new EnumMap<>(Lane.class);

  /** The user's executor, for what may block or take long; null if there is none. */
  private final @Nullable Executor executor;

  /** Time with daemon threads of its own. */
  public SystemTime() {
    this(SystemTime::threads, null);
  }

  /** Returns time that runs what may block or take long on an executor, if there is one. */
  public static SystemTime with(@Nullable Executor executor) {
    return new SystemTime(SystemTime::threads, executor);
  }

  /**
   * Time with threads from given factories.
   *
   * @param threads returns a factory by the name of what the threads are for
   */
  SystemTime(Function<String, ThreadFactory> threads, @Nullable Executor executor) {
    this.executor = executor;
    timers = new ScheduledThreadPoolExecutor(1, threads.apply("timer"));
    timers.setRemoveOnCancelPolicy(true);
    timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    timers.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    timers.allowCoreThreadTimeOut(true);
    lanes.put(Lane.RENEWAL, pool(1, threads.apply("renewal")));
    lanes.put(Lane.WORK, pool(WORKERS, threads.apply("work")));
    lanes.put(Lane.REQUEST, pool(FOR_USERS, threads.apply("request")));
    lanes.put(Lane.UNDO, pool(WORKERS, threads.apply("undo")));
    lanes.put(Lane.LOSS, pool(FOR_USERS, threads.apply("loss")));
    lanes.put(Lane.EVENT, pool(FOR_USERS, threads.apply("event")));
    lanes.put(Lane.CALLBACK, pool(FOR_USERS, threads.apply("callback")));
  }

  private Workers pool(int most, ThreadFactory threads) {
    return new Workers(
        most, IDLE_SECONDS, TimeUnit.SECONDS, threads, again -> schedule(TRY_AGAIN_NANOS, again));
  }

  private static ThreadFactory threads(String name) {
    AtomicInteger count = new AtomicInteger();
    return task -> {
      // Inherits no thread locals: a data source may find its caller's transaction there, and this
      // thread would take part in it.
      String called = "fenceline-" + name + "-" + count.incrementAndGet();
      Thread thread = new Thread(null, task, called, 0, false);
      thread.setDaemon(true);
      // As always; newer versions of Java would give a thread that inherits nothing the system's.
      thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
      return thread;
    };
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public Timer schedule(long delayNanos, Runnable task) {
    Timed timed = new Timed(task);
    try {
      timed.future = timers.schedule(timed, delayNanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The client is closed; there is nothing left to time.
    } catch (OutOfMemoryError e) {
      // No thread could be started. The task is in the queue already, and the next schedule() tries
      // again to start one; the caller must be able to go on with its other work.
    }
    return timed;
  }

  /** A task that can be cancelled even if scheduling it threw, so that there is no future. */
  private static final class Timed implements Runnable, Timer {
    private final Runnable task;
    private volatile boolean cancelled;
    private @Nullable Future<?> future;

    Timed(Runnable task) {
      this.task = task;
    }

    @Override
    public void run() {
      if (!cancelled) {
        task.run();
      }
    }

    @Override
    public void cancel() {
      cancelled = true;
      if (future != null) {
        future.cancel(false);
      }
    }
  }

  @Override
  public Executor lane(Lane lane) {
    Executor own = ownLane(lane);
    if (executor == null || lane == Lane.RENEWAL) {
      return own;
    }
    return task -> {
      Once once = new Once(task);
      try {
        executor.execute(once);
      } catch (Throwable e) { // A full, closed or broken executor must not lose an event or a hold.
        if (once.hasBegun()) {
          Workers.report(e);
        } else {
          own.execute(once);
        }
      }
    };
  }

  /** A task that an executor may have begun before it threw. */
  private static final class Once implements Runnable {
    private final Runnable task;
    private final AtomicBoolean begun = new AtomicBoolean();

    Once(Runnable task) {
      this.task = task;
    }

    @Override
    public void run() {
      if (begun.compareAndSet(false, true)) {
        task.run();
      }
    }

    boolean hasBegun() {
      return begun.get();
    }
  }

  private Executor ownLane(Lane lane) {
    Workers pool = Objects.requireNonNull(lanes.get(lane));
    return task -> {
      try {
        pool.execute(task);
      } catch (RejectedExecutionException e) {
        // The client is closed, and its holds have ended, so their tasks need not run; but a future
        // that someone waits for must still be completed.
        if (RUN_TO_THE_END.contains(lane)) {
          task.run();
        }
      }
    };
  }

  @Override
  public void park(Object blocker, long maxNanos) {
    if (maxNanos == Long.MAX_VALUE) {
      LockSupport.park(blocker); // A wait without an end needs no timer of the kernel.
    } else {
      LockSupport.parkNanos(blocker, maxNanos);
    }
  }

  @Override
  public void close() {
    timers.shutdown();
    lanes.values().forEach(Workers::close);
  }
}
