package io.fenceline.bench.work;

import io.fenceline.bench.contender.Contender;
import java.util.concurrent.locks.LockSupport;

/**
 * What a lock guards: a counter without any protection of its own.
 *
 * <p>Two who are inside at once are noticed by the mark that each leaves, or by a count that is too
 * small in the end. A lock that lets two in is not fast, it is broken, and the run ends.
 */
final class Guarded implements Contender.Section {
  private final long stayNanos;
  private long count;
  private long lastToken;
  private long inside;

  Guarded(long stayNanos) {
    this.stayNanos = stayNanos;
  }

  @Override
  public void run(long token) {
    long me = Thread.currentThread().getId();
    if (inside != 0) {
      throw new BrokenLockException("thread " + me + " met thread " + inside + " inside");
    }
    inside = me;
    if (token != 0) {
      if (token <= lastToken) {
        throw new BrokenLockException("token " + token + " came after " + lastToken);
      }
      lastToken = token;
    }
    count++;
    stay(stayNanos);
    if (inside != me) {
      throw new BrokenLockException("thread " + inside + " came in while " + me + " was inside");
    }
    inside = 0;
  }

  static void stay(long stayNanos) {
    if (stayNanos == 0) {
      return;
    }
    long end = System.nanoTime() + stayNanos;
    for (long left = stayNanos; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /** How often someone was inside, to be called when nobody is. */
  long count() {
    return count;
  }
}
