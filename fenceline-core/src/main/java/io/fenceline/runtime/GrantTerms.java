package io.fenceline.runtime;

import io.fenceline.LockOptions;
import io.fenceline.spi.Mode;
import java.time.Duration;

/** What a caller needs of a grant; callers with equal terms can use the same one. */
record GrantTerms(Mode mode, Duration lease, Duration delay, boolean autoRenewal) {

  static GrantTerms of(Mode mode, LockOptions options) {
    return new GrantTerms(mode, options.lease(), options.lockDelay(), options.autoRenewal());
  }

  /** As {@code equals}, whose first call in a process takes eight milliseconds to be linked. */
  boolean match(GrantTerms other) {
    return (mode == other.mode || mode.equals(other.mode))
        && lease.equals(other.lease)
        && delay.equals(other.delay)
        && autoRenewal == other.autoRenewal;
  }
}
