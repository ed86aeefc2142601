package io.fenceline.bench.contender;

import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;

/** What the floors have in common. */
final class Floors {
  /** Whoever has waited for its turn for this long looks whether the run is over. */
  static final int LONGEST_WAIT_MILLIS = 500;

  private Floors() {}

  /** Sixteen bytes, new for each cycle. */
  static byte[] owner() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return ByteBuffer.allocate(16).putLong(random.nextLong()).putLong(random.nextLong()).array();
  }

  /** A bare request that did not do what it is there for would be fast for nothing. */
  static void check(boolean done) {
    if (!done) {
      throw new IllegalStateException("a bare request was refused");
    }
  }
}
