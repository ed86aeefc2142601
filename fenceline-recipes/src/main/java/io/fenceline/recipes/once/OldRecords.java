package io.fenceline.recipes.once;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes old records as new ones come: after so many results, one sweep that ends when nothing is
 * left. So it keeps up with any rate of keys, and costs nothing where there is no work.
 */
final class OldRecords {
  private static final Logger LOG = LoggerFactory.getLogger(Once.class);

  private final Executor executor;
  private final int after;
  private final AtomicInteger finished = new AtomicInteger();
  private final AtomicBoolean running = new AtomicBoolean();

  OldRecords(Executor executor, int after) {
    this.executor = executor;
    this.after = after;
  }

  /**
   * A result was stored.
   *
   * @param step removes some, and says whether there may be more
   */
  void finished(BooleanSupplier step) {
    if (finished.incrementAndGet() >= after && running.compareAndSet(false, true)) {
      finished.set(0);
      executor.execute(() -> sweep(step));
    }
  }

  private void sweep(BooleanSupplier step) {
    try {
      boolean more = true;
      while (more) {
        more = step.getAsBoolean();
      }
    } catch (RuntimeException e) {
      LOG.warn("Old records were not swept; it is tried again after {} more results", after, e);
    } finally {
      running.set(false);
    }
  }
}
