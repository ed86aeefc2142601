package io.fenceline.redis.claim;

import io.fenceline.redis.layout.Layout;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Whether the short scripts are worth trying: they do when nobody else wants the name, and cost a
 * round trip for nothing otherwise. Only a guess, for the names of a bucket together; what is done
 * does not depend on it.
 */
public final class UncontendedBuckets {
  /** After this many full calls, the short ones get another chance. */
  private static final int FULL_CALLS = 32;

  private final AtomicIntegerArray fullCalls = new AtomicIntegerArray(Layout.BUCKETS);

  /** Asked before each call. */
  public boolean isLikely(int bucket) {
    int left = fullCalls.get(bucket);
    if (left == 0) {
      return true;
    }
    fullCalls.compareAndSet(bucket, left, left - 1);
    return false;
  }

  /** Someone else wants a name of this bucket. */
  public void wasNot(int bucket) {
    fullCalls.set(bucket, FULL_CALLS);
  }
}
