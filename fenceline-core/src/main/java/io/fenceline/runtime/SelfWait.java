package io.fenceline.runtime;

import io.fenceline.spi.Mode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Notices that a caller waits for what this client, or the caller's own thread, holds. */
final class SelfWait {
  private SelfWait() {}

  /** Warns if the thread of a waiter without limit itself holds what it waits for. */
  static void warn(Engine engine, String name, Waiter waiter) {
    Thread thread = waiter.thread;
    if (thread == null) {
      return;
    }
    List<GrantLifecycle> own =
        engine.queues.grantsOf(name).stream().filter(grant -> grant.isHeldBy(thread)).toList();
    if (blocks(waiter.terms.mode(), own)) {
      engine.events.warn(
          "Thread '{}' waits without limit for lock '{}', but itself holds {} (store={})",
          thread.getName(),
          name,
          String.valueOf(advice(waiter.terms.mode(), own)),
          engine.store.description());
    }
  }

  /**
   * Says what this client itself holds of a name, and what to do then: the end of a sentence.
   *
   * @param wanted what the caller asked for
   * @param held what this client holds of the same name
   * @return null if it holds nothing
   */
  static @Nullable String advice(Mode wanted, List<GrantLifecycle> held) {
    if (held.isEmpty()) {
      return null;
    }
    if (wanted instanceof Mode.Permits permits) {
      return "%d of the %d permits: a permit can't be entered again, so release before you acquire more"
          .formatted(held.stream().mapToInt(SelfWait::permits).sum(), permits.total());
    }
    boolean reads = held.stream().allMatch(grant -> grant.terms().mode() instanceof Mode.Shared);
    return wanted instanceof Mode.Exclusive && reads
        ? "the read lock, which can't be upgraded: release it before you acquire the write lock"
        : "the lock: to enter it again, use reenter() of the hold, or asReentrantLock()";
  }

  /** Returns whether these grants alone are enough to keep the caller waiting. */
  private static boolean blocks(Mode wanted, List<GrantLifecycle> held) {
    return wanted instanceof Mode.Permits permits
        ? held.stream().mapToInt(SelfWait::permits).sum() > permits.total() - permits.count()
        : !held.isEmpty(); // A second read lock queues behind a writer that waits for the first.
  }

  private static int permits(GrantLifecycle grant) {
    return grant.terms().mode() instanceof Mode.Permits permits ? permits.count() : 0;
  }
}
