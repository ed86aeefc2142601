package io.fenceline.runtime;

import io.fenceline.spi.Lane;
import io.fenceline.spi.Time;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The machine's own time: the only place of the core that reads clocks and owns threads.
 *
 * <p>All threads are daemons, start when there is work, and end after a while without any.
 */
final class SystemTime implements Time {
  private static final int WORKERS = 4;

  /** User code may block, and may wait for other user code; this many of it can at once. */
  private static final int FOR_USERS = 256;

  private static final int IDLE_SECONDS = 10;

  private final ScheduledThreadPoolExecutor timers;
  private final Map<Lane, ThreadPoolExecutor> lanes = new EnumMap<>(Lane.class);

  SystemTime() {
    timers = new ScheduledThreadPoolExecutor(1, threads("timer"));
    timers.setRemoveOnCancelPolicy(true);
    timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    timers.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    timers.allowCoreThreadTimeOut(true);
    lanes.put(Lane.RENEWAL, pool("renewal", 1));
    lanes.put(Lane.WORK, pool("work", WORKERS));
    lanes.put(Lane.UNDO, pool("undo", WORKERS));
    lanes.put(Lane.LOSS, pool("loss", FOR_USERS));
    lanes.put(Lane.CALLBACK, pool("callback", FOR_USERS));
  }

  /** A pool that starts a thread only when none is idle, and queues only when it has them all. */
  private static ThreadPoolExecutor pool(String name, int threads) {
    LinkedTransferQueue<Runnable> queue =
        new LinkedTransferQueue<>() {
          private static final long serialVersionUID = 1L;

          @Override
          public boolean offer(Runnable task) {
            return tryTransfer(task); // Only to a thread that waits for one.
          }
        };
    return new ThreadPoolExecutor(
        0,
        threads,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        queue,
        threads(name),
        (task, pool) -> {
          if (pool.isShutdown()) {
            throw new RejectedExecutionException("closed");
          }
          queue.put(task);
        });
  }

  private static ThreadFactory threads(String name) {
    AtomicInteger count = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, "fenceline-" + name + "-" + count.incrementAndGet());
      thread.setDaemon(true);
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
    try {
      ScheduledFuture<?> future = timers.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
      return () -> future.cancel(false);
    } catch (RejectedExecutionException e) {
      return () -> {}; // The client is closed; there is nothing left to time.
    }
  }

  @Override
  public Executor lane(Lane lane) {
    ThreadPoolExecutor pool = Objects.requireNonNull(lanes.get(lane));
    return task -> {
      try {
        pool.execute(task);
      } catch (RejectedExecutionException e) {
        // The client is closed. What would have run here belongs to holds that have ended; but a
        // future that someone waits for must still be completed.
        if (lane == Lane.CALLBACK || lane == Lane.LOSS) {
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
    lanes.values().forEach(ThreadPoolExecutor::shutdown);
  }
}
