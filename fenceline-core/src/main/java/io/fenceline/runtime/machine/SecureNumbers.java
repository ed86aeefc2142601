package io.fenceline.runtime.machine;

import io.fenceline.time.Time;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/**
 * Numbers that nobody can guess, fetched in blocks: without blocks, many threads that acquire at
 * once would queue for the lock that {@link SecureRandom} holds while it computes.
 *
 * <p>If a virtual machine is saved and resumed twice, both copies have the same block in memory,
 * and two owners with one secret are one owner to every store. So a block is thrown away after a
 * tenth of a second, as the JDK's own generator does with what it has read ahead.
 */
public final class SecureNumbers implements RandomGenerator {
  private static final int BLOCK_BYTES = 1024;
  private static final long MAX_AGE_MILLIS = 100;

  private final Time time;
  private final SecureRandom source = new SecureRandom();

  // Guarded by this.
  private final ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES).limit(0);
  private long fetchedMillis;

  public SecureNumbers(Time time) {
    this.time = time;
  }

  @Override
  public synchronized long nextLong() {
    fetch(Long.BYTES);
    return block.getLong();
  }

  @Override
  public synchronized void nextBytes(byte[] bytes) {
    if (bytes.length > BLOCK_BYTES) {
      source.nextBytes(bytes);
      return;
    }
    fetch(bytes.length);
    block.get(bytes);
  }

  private void fetch(int wanted) {
    long now = time.wallMillis();
    boolean old = now - fetchedMillis > MAX_AGE_MILLIS || now < fetchedMillis;
    if (old || block.remaining() < wanted) {
      source.nextBytes(block.array());
      block.clear();
      fetchedMillis = now;
    }
  }
}
