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
 *
 * <p>So a block is short at first, and twice as long as the one before if that was used up in time:
 * each 20 bytes are a round of SHA-1, and a kilobyte of them is more than a millisecond of work in
 * a process that seldom acquires, and so has not compiled it yet.
 */
public final class SecureNumbers implements RandomGenerator {
  /** An owner and three numbers for jitter: two rounds of SHA-1. */
  private static final int SHORTEST_BLOCK = 40;

  private static final int LONGEST_BLOCK = 1024;
  private static final long MAX_AGE_MILLIS = 100;

  private final Time time;
  private final SecureRandom source;

  // Guarded by this.
  private ByteBuffer block = ByteBuffer.allocate(0);
  private long fetchedMillis;

  public SecureNumbers(Time time) {
    this(time, new SecureRandom());
  }

  SecureNumbers(Time time, SecureRandom source) {
    this.time = time;
    this.source = source;
  }

  @Override
  public synchronized long nextLong() {
    fetch(Long.BYTES);
    return block.getLong();
  }

  @Override
  public synchronized void nextBytes(byte[] bytes) {
    if (bytes.length > SHORTEST_BLOCK) {
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
      int longer = Math.min(LONGEST_BLOCK, block.capacity() * 2);
      byte[] fresh = new byte[old ? SHORTEST_BLOCK : Math.max(SHORTEST_BLOCK, longer)];
      source.nextBytes(fresh);
      block = ByteBuffer.wrap(fresh);
      fetchedMillis = now;
    }
  }
}
