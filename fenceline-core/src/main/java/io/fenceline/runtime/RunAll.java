package io.fenceline.runtime;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs several steps, all of them even if one throws, and then throws the first failure.
 *
 * <p>One step may find no memory or no thread left. If the others were skipped, a name might not be
 * passed on, and would stay closed for ever.
 */
final class RunAll {
  private final List<Runnable> steps = new ArrayList<>();

  RunAll then(Runnable step) {
    steps.add(step);
    return this;
  }

  /** Runs each step, in order, and then throws what the first failed step has thrown. */
  void run() {
    Throwable first = null;
    for (Runnable step : steps) {
      first = tried(step, first);
    }
    if (first instanceof Error error) {
      throw error;
    } else if (first != null) {
      throw Futures.unwrapped(first);
    }
  }

  private static @Nullable Throwable tried(Runnable step, @Nullable Throwable before) {
    try {
      step.run();
      return before;
    } catch (Throwable e) {
      if (before == null) {
        return e;
      }
      if (before != e) {
        before.addSuppressed(e);
      }
      return before;
    }
  }
}
