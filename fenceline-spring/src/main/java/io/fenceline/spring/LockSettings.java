package io.fenceline.spring;

import io.fenceline.LockOptions;
import java.time.Duration;

/**
 * How locks are held and waited for, by name, where neither the annotation nor the caller says. A
 * bean of this type replaces the defaults.
 */
public interface LockSettings {

  /** The options of the client for every name, and a wait of 10 seconds. */
  LockSettings DEFAULTS =
      new LockSettings() {
        @Override
        public LockOptions options(String name, LockOptions ofClient) {
          return ofClient;
        }

        @Override
        public Duration maxWait(String name) {
          return DEFAULT_WAIT;
        }
      };

  /** How long callers wait if nothing else is said. */
  Duration DEFAULT_WAIT = Duration.ofSeconds(10);

  /**
   * Returns the options of a lock.
   *
   * @param ofClient what the client gives to locks that nothing is said about
   */
  LockOptions options(String name, LockOptions ofClient);

  /** Returns how long to wait for a lock. */
  Duration maxWait(String name);
}
