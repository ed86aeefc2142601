package io.fenceline.event;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A hold is no longer renewed, although it was not released.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param lease the length of its lease
 * @param cause how the leak was noticed
 * @param acquiredAt where it was acquired, with {@link io.fenceline.LockOptions#leakTrace}
 */
public record Leaked(
    String name, String id, long token, Duration lease, Cause cause, @Nullable Throwable acquiredAt)
    implements LockEvent {

  /** How a leak is noticed. */
  public enum Cause {
    /** The hold was garbage collected. */
    COLLECTED("it was garbage collected"),
    /** The thread that owned it has ended. */
    OWNER_ENDED("the thread that owned it has ended"),
    /** It was held for longer than its options allow. */
    MAX_HOLD("it was held for longer than maxHold");

    private final String meaning;

    Cause(String meaning) {
      this.meaning = meaning;
    }

    /** Returns the cause in words, for messages. */
    public String meaning() {
      return meaning;
    }
  }
}
