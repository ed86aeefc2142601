package io.fenceline.cli.run;

import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Prepares a {@link GuardedCommand} on a thread of its own while the caller connects to the store:
 * both together are most of a short run, and neither needs the other.
 */
public final class Preparation implements AutoCloseable {

  /*
   * The caller waits for the end before it asks for a lock: a tool that can't start its watchdog must
   * not wait for a lock, nor take one. The close waits for it, too, or a folder and a watchdog would
   * be left behind by a thread that comes later.
   */

  private final FutureTask<GuardedCommand> task;

  private Preparation(FutureTask<GuardedCommand> task) {
    this.task = task;
  }

  /**
   * Begins it.
   *
   * @param home where the distribution is
   */
  public static Preparation begin(Path home) {
    FutureTask<GuardedCommand> task = new FutureTask<>(() -> GuardedCommand.prepare(home));
    Thread thread = new Thread(task, "preparation");
    thread.setDaemon(true);
    thread.start();
    return new Preparation(task);
  }

  /**
   * Waits for the end, and gives the command.
   *
   * @throws io.fenceline.cli.failure.Failure if the watchdog could not be started
   */
  public GuardedCommand await() throws InterruptedException {
    try {
      return task.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      } else if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw new IllegalStateException(e);
    }
  }

  /** Closes what was prepared, if anything was. */
  @Override
  public void close() {
    boolean interrupted = false;
    boolean isOver = false;
    while (!isOver) {
      try {
        task.get().close();
        isOver = true;
      } catch (ExecutionException e) {
        isOver = true; // There is nothing to close.
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
