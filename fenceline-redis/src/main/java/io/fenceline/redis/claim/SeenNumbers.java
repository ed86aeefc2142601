package io.fenceline.redis.claim;

import io.fenceline.redis.layout.Layout;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The largest grant number of each bucket that this client has seen. It goes along with every
 * claim, so that tokens rise though a server has lost its counter: see {@code number.lua}.
 */
public final class SeenNumbers {
  private final AtomicLongArray largest = new AtomicLongArray(Layout.BUCKETS);

  long get(int bucket) {
    return largest.get(bucket);
  }

  void add(int bucket, long number) {
    largest.accumulateAndGet(bucket, number, Math::max);
  }
}
