package io.fenceline.spi;

import io.fenceline.time.Time;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Fails answers that are not complete after a timeout, which is the same for all.
 *
 * <p>So they time out in the order in which they came, and one timer for the oldest is enough. A
 * timer for each request would wake the timers' thread each time, which costs as much as a request
 * over the loopback itself. Thread-safe.
 */
public final class AnswerTimeouts {
  /*
   * What would break it, and why it can't:
   *
   * - An answer that never times out: whoever adds one sees the timer armed, or arms it; the timer
   *   disarms only after it has seen the queue empty, and looks once more afterwards.
   * - A queue that grows: each new answer removes the oldest ones if they are complete. Behind one
   *   that is not complete, the others stay until it ends, one timeout at most.
   */
  private final Time time;
  private final long timeoutNanos;
  private final ConcurrentLinkedQueue<Watched> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean armed = new AtomicBoolean();

  /**
   * An answer, and what runs when its time is over. No record: the first comparison of two records
   * generates code, which takes a tenth of the time that a client needs to start on Redis.
   */
  private static final class Watched {
    final CompletableFuture<?> answer;
    final long deadlineNanos;
    final Runnable whenOver;

    Watched(CompletableFuture<?> answer, long deadlineNanos, Runnable whenOver) {
      this.answer = answer;
      this.deadlineNanos = deadlineNanos;
      this.whenOver = whenOver;
    }
  }

  /** Timeouts of this length. */
  public AnswerTimeouts(Time time, long timeoutNanos) {
    this.time = time;
    this.timeoutNanos = timeoutNanos;
  }

  /**
   * Returns the same answer, or a failure if it does not come in time.
   *
   * @param otherwise makes the failure; called on the thread of the timers, so it must not block
   */
  public <T> CompletableFuture<T> bound(
      CompletableFuture<T> answer, Supplier<? extends RuntimeException> otherwise) {
    if (answer.isDone()) {
      return answer;
    }
    CompletableFuture<T> bounded = new CompletableFuture<>();
    watch(bounded, () -> bounded.completeExceptionally(otherwise.get()));
    answer.whenComplete(
        (value, failure) -> {
          if (failure == null) {
            bounded.complete(value);
          } else {
            bounded.completeExceptionally(failure);
          }
        });
    return bounded;
  }

  /**
   * Runs a task when an answer is not complete in time.
   *
   * @param whenOver called on the thread of the timers, so it must not block
   */
  public void watch(CompletableFuture<?> answer, Runnable whenOver) {
    dropAnswered();
    waiting.add(new Watched(answer, time.nanos() + timeoutNanos, whenOver));
    if (!armed.get() && armed.compareAndSet(false, true)) {
      arm(timeoutNanos);
    }
  }

  private void dropAnswered() {
    Watched oldest = waiting.peek();
    while (oldest != null && oldest.answer.isDone() && waiting.remove(oldest)) {
      oldest = waiting.peek();
    }
  }

  private void arm(long delayNanos) {
    boolean set = false;
    try {
      time.schedule(Math.max(0, delayNanos), this::look);
      set = true;
    } finally {
      if (!set) {
        armed.set(false); // The next caller tries again.
      }
    }
  }

  private void look() {
    long now = time.nanos();
    try {
      endThoseThatAreOver(now);
    } finally { // Whatever one of them throws, the others time out.
      Watched oldest = waiting.peek();
      if (oldest != null) {
        arm(oldest.deadlineNanos - now);
      } else {
        armed.set(false);
        if (!waiting.isEmpty() && armed.compareAndSet(false, true)) {
          arm(0); // One was added just before we disarmed.
        }
      }
    }
  }

  private void endThoseThatAreOver(long now) {
    Watched oldest = waiting.peek();
    while (oldest != null && (oldest.answer.isDone() || oldest.deadlineNanos - now <= 0)) {
      waiting.remove(oldest);
      if (!oldest.answer.isDone()) {
        oldest.whenOver.run();
      }
      oldest = waiting.peek();
    }
  }

  /** Fails all answers that are not complete: none will come any more. */
  public void failAll(RuntimeException cause) {
    for (Watched left = waiting.poll(); left != null; left = waiting.poll()) {
      left.answer.completeExceptionally(cause);
    }
  }
}
