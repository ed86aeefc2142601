package io.fenceline.runtime;

import io.fenceline.Acquirable;
import io.fenceline.Held;
import io.fenceline.LimitExceededException;
import io.fenceline.ReleaseOutcome;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One task under one hold: interrupted at its limit, followed by the release, and failed if the
 * hold was lost meanwhile.
 */
final class TaskRun<H extends Held, T, X extends Exception> {
  private final Engine engine;
  private final String what;
  private final Optional<Duration> limit;

  // Guarded by this: the interrupt must not hit what the thread does after the task.
  private @Nullable Thread running;
  private boolean limitReached;

  TaskRun(Engine engine, String what, Optional<Duration> limit) {
    this.engine = engine;
    this.what = what;
    this.limit = limit;
  }

  T run(H held, Acquirable.Task<? super H, T, X> task) throws X {
    Throwable thrown = null;
    Time.Timer timer = begin();
    try {
      return task.call(held);
    } catch (Throwable t) {
      thrown = t;
      throw t;
    } finally {
      timer.cancel();
      boolean overran = end();
      RuntimeException problem = problem(overran, held.release(), held);
      if (problem != null && overran) {
        if (thrown != null) {
          problem.addSuppressed(thrown);
        }
        throwInstead(problem);
      } else if (problem != null && thrown != null) {
        thrown.addSuppressed(problem);
      } else if (problem != null) {
        throwInstead(problem);
      }
    }
  }

  private static void throwInstead(RuntimeException problem) {
    throw problem;
  }

  private @Nullable RuntimeException problem(boolean overran, ReleaseOutcome outcome, H held) {
    RuntimeException lost =
        outcome == ReleaseOutcome.ALREADY_LOST && held instanceof LossSource source
            ? source.lossException()
            : null;
    if (!overran) {
      return lost;
    }
    LimitExceededException limited =
        new LimitExceededException(
            LimitExceededException.WORK_LIMIT,
            limit.orElse(Duration.ZERO),
            "The task under lock '%s' was interrupted.".formatted(what));
    if (lost != null) {
      limited.addSuppressed(lost);
    }
    return limited;
  }

  private Time.Timer begin() {
    synchronized (this) {
      running = Thread.currentThread();
    }
    return limit.map(l -> engine.time.schedule(l.toNanos(), this::reachLimit)).orElse(() -> {});
  }

  private synchronized void reachLimit() {
    if (running != null) {
      limitReached = true;
      running.interrupt();
    }
  }

  /** Ends the task; clears the interrupt of the limit if the task has not used it up. */
  private synchronized boolean end() {
    running = null;
    if (limitReached) {
      boolean unused = Thread.interrupted();
    }
    return limitReached;
  }
}
