package io.fenceline.recipes.cache;

import java.time.Duration;
import java.util.Optional;

/**
 * Values that all processes share: {@link RedisTier}, or {@link MemoryTier} for tests.
 *
 * <p>Thread-safe.
 */
public abstract class SharedTier {
  /*
   * A load has a beginning (begin, under the lock) and an end (put). What if one of them
   *
   * - arrives late: begin by a token that was overtaken is refused by the larger one; if that is
   *   forgotten, it makes a mark that expires. put by a token that is not the last one that began is
   *   refused; so is put without a mark.
   * - arrives twice: begin changes nothing; put stores the same value again, unless another one has
   *   begun.
   * - has no answer: begin may have left a mark, which the next one replaces and which expires. put may
   *   have stored a value that was right.
   */

  SharedTier() {}

  /** Names this tier in messages. */
  abstract String kind();

  abstract Optional<Stored> find(String name);

  /** The second look; notes who loads if there is nothing fresh. */
  abstract Look begin(String name, long token, Duration longestLoad);

  /** Whether it was stored: not if another one has begun since. */
  abstract boolean put(String name, long token, byte[] value, Duration fresh, Duration keep);

  abstract void remove(String name);

  /**
   * A value.
   *
   * @param fresh for how long still; negative if it is stale
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record Stored(byte[] value, Duration fresh) {
    boolean isFresh() {
      return !fresh.isNegative() && !fresh.isZero();
    }
  }

  /**
   * What the second look has found.
   *
   * @param isOurs whether this one loads
   * @param found a fresh value, if there is one
   */
  record Look(boolean isOurs, Optional<Stored> found) {}
}
