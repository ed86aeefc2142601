package io.fenceline.redis;

import io.fenceline.spi.Lane;
import io.fenceline.spi.Time;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Makes sure that every answer that is waited for comes, or fails, within the operation timeout.
 *
 * <p>All wait equally long, so they expire in the order in which they were added, and one timer for
 * the oldest is enough: a timer for each would cost more than the request itself. Those that were
 * answered leave when the next one is added.
 */
final class Deadlines {
  private final Time time;
  private final long timeoutNanos;
  private final ConcurrentLinkedQueue<Reply<?>> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean armed = new AtomicBoolean();

  Deadlines(Time time, long timeoutNanos) {
    this.time = time;
    this.timeoutNanos = timeoutNanos;
  }

  /** A reply that fails when its time is over. */
  <T> Reply<T> expect(String what) {
    Reply<T> reply = new Reply<>(what, time.nanos() + timeoutNanos);
    dropAnswered();
    waiting.add(reply);
    if (!armed.get() && armed.compareAndSet(false, true)) {
      arm(timeoutNanos);
    }
    return reply;
  }

  private void dropAnswered() {
    Reply<?> oldest = waiting.peek();
    while (oldest != null && oldest.isDone() && waiting.remove(oldest)) {
      oldest = waiting.peek();
    }
  }

  private void arm(long delayNanos) {
    time.schedule(delayNanos, () -> time.lane(Lane.WORK).execute(this::look));
  }

  private void look() {
    long now = time.nanos();
    Reply<?> oldest = waiting.peek();
    while (oldest != null && (oldest.isDone() || oldest.deadlineNanos - now <= 0)) {
      oldest.expire();
      waiting.remove(oldest);
      oldest = waiting.peek();
    }
    if (oldest != null) {
      arm(oldest.deadlineNanos - now);
      return;
    }
    armed.set(false);
    if (!waiting.isEmpty() && armed.compareAndSet(false, true)) {
      arm(0); // One was added just before we disarmed.
    }
  }
}
