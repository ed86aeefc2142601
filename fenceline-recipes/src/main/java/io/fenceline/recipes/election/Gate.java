package io.fenceline.recipes.election;

import io.fenceline.time.Time;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Threads that wait for a condition, by the time that was handed in. */
final class Gate {
  private final Time time;
  private final List<Thread> waiting = new CopyOnWriteArrayList<>();

  Gate(Time time) {
    this.time = time;
  }

  /** To be called after the condition of somebody may have come true. */
  void changed() {
    waiting.forEach(LockSupport::unpark);
  }

  /** Whether the condition came true in time. */
  boolean await(long maxNanos, BooleanSupplier condition) throws InterruptedException {
    long from = time.nanos();
    Thread self = Thread.currentThread();
    waiting.add(self);
    try {
      while (!condition.getAsBoolean()) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        long left = maxNanos - (time.nanos() - from);
        if (left <= 0) {
          return false;
        }
        time.park(this, left);
      }
      return true;
    } finally {
      waiting.remove(self);
    }
  }

  /** As {@link #await}; an interrupt is kept for later. */
  boolean awaitUninterruptibly(long maxNanos, BooleanSupplier condition) {
    long from = time.nanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return await(maxNanos - (time.nanos() - from), condition);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
