package io.fenceline.runtime;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Things that all have to be done, whatever becomes of one of them.
 *
 * <p>No memory, or no thread, may be left for one of them; a name that is not passed on because of
 * that would be closed for ever.
 */
final class Steps {
  private final List<Runnable> steps = new ArrayList<>();

  Steps then(Runnable step) {
    steps.add(step);
    return this;
  }

  /** Does each of them, in order, and throws the first of what they have thrown. */
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
