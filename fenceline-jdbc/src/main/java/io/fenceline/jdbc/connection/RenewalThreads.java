package io.fenceline.jdbc.connection;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of renewals that have found their rows locked, and wait for them.
 *
 * <p>They are their own: claims that wait for locked rows may take all threads of other work for as
 * long as an operation may last, and the renewals of all other names must not wait for these.
 */
final class RenewalThreads implements Executor, AutoCloseable {
  /** So many rows can be waited for at a time, for a second each. */
  static final int THREADS = 8;

  private static final int IDLE_SECONDS = 10;

  private final ThreadPoolExecutor threads;

  RenewalThreads() {
    threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> UnboundThread.of(task, "fenceline-renewal-again"));
    threads.allowCoreThreadTimeOut(true);
  }

  @Override
  public void execute(Runnable task) {
    try {
      threads.execute(task);
    } catch (RejectedExecutionException e) {
      task.run(); // The store is closed, which is what it answers.
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
