package io.fenceline.runtime;

import io.fenceline.spi.Mode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What this client itself has of a name that a caller of it waits for, and what to do then. */
final class HeldHere {
  private HeldHere() {}

  /**
   * Says what is in the caller's way, as the end of a sentence about who holds it.
   *
   * @param wanted what the caller asked for
   * @param held what this client has of the same name
   * @return null if it has nothing
   */
  static @Nullable String meaning(Mode wanted, List<GrantLifecycle> held) {
    if (held.isEmpty()) {
      return null;
    }
    if (wanted instanceof Mode.Permits permits) {
      return "%d of the %d permits: a permit can't be entered again, so release before you acquire more"
          .formatted(held.stream().mapToInt(HeldHere::permits).sum(), permits.total());
    }
    boolean reads = held.stream().allMatch(grant -> grant.terms().mode() instanceof Mode.Shared);
    return wanted instanceof Mode.Exclusive && reads
        ? "the read lock, which can't be upgraded: release it before you acquire the write lock"
        : "the lock: to enter it again, use reenter() of the hold, or asReentrantLock()";
  }

  /** Whether what a caller has is alone enough to keep it waiting. */
  static boolean keepsOut(Mode wanted, List<GrantLifecycle> held) {
    return wanted instanceof Mode.Permits permits
        ? held.stream().mapToInt(HeldHere::permits).sum() > permits.total() - permits.count()
        : !held.isEmpty(); // A reader that reads again waits for a writer that waits for it.
  }

  private static int permits(GrantLifecycle grant) {
    return grant.terms().mode() instanceof Mode.Permits permits ? permits.count() : 0;
  }
}
