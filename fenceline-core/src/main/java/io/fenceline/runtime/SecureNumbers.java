package io.fenceline.runtime;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/**
 * Numbers that nobody can guess, drawn in blocks: asking {@link SecureRandom} for each owner takes
 * its lock four times, which many threads that acquire at once queue for.
 */
final class SecureNumbers implements RandomGenerator {
  private static final int BLOCK_BYTES = 1024;

  private final SecureRandom source = new SecureRandom();
  private final ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES).limit(0); // Guarded by this.

  @Override
  public synchronized long nextLong() {
    if (!block.hasRemaining()) {
      source.nextBytes(block.array());
      block.clear();
    }
    return block.getLong();
  }
}
