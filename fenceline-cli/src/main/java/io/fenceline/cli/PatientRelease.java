package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.MultiHold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.cli.text.Message;
import io.fenceline.metrics.LockObserver;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Gives a lock back. The client repeats a release that got no answer for as long as it is open:
 * here it stays open until the store has answered, or the lease is over. A tool that left before
 * would cost whoever waits the rest of the lease.
 */
final class PatientRelease implements LockObserver {
  private final AtomicInteger unanswered = new AtomicInteger();
  private volatile boolean repeats;
  private final Runnable wakeUp;
  private final Pause pause;

  /** How to wait. */
  interface Pause {
    /**
     * Waits until it is woken up, for so long at most.
     *
     * @return whether to go on waiting, as far as signals say
     */
    boolean last(Duration longest) throws InterruptedException;
  }

  private PatientRelease(Runnable wakeUp, Pause pause) {
    this.wakeUp = wakeUp;
    this.pause = pause;
  }

  /**
   * Gives it back.
   *
   * @param wakeUp ends a pause, from another thread
   * @param options who is told that this takes longer
   * @param unconfirmed called before the wait for a late answer, if there is one
   * @return as the first answer said, and {@link ReleaseOutcome#RELEASED} if there was a later one:
   *     then the name is not ours any more
   */
  static ReleaseOutcome release(
      Fenceline fenceline,
      Held held,
      String what,
      WaitOptions options,
      Runnable wakeUp,
      Pause pause,
      Runnable unconfirmed)
      throws InterruptedException {
    long endNanos = System.nanoTime() + held.remaining().toNanos();
    PatientRelease release = new PatientRelease(wakeUp, pause);
    boolean several = held instanceof MultiHold;
    if (several) {
      fenceline.observe(kind -> release); // Before, so that it sees the repeats of all of them.
    }
    CompletableFuture<ReleaseOutcome> asked = held.releaseAsync();
    if (asked.isDone() && asked.join() != ReleaseOutcome.UNKNOWN) {
      return asked.join(); // As nearly always on a file, where the rest would only cost time.
    }
    if (!several) {
      fenceline.observe(kind -> release);
    }
    ReleaseOutcome first = asked.join();
    if (first != ReleaseOutcome.UNKNOWN) {
      return first;
    }
    unconfirmed.run();
    if (release.isAnsweredBy(endNanos, what, options)) {
      return ReleaseOutcome.RELEASED;
    }
    Message.print(
        "the store did not confirm that "
            + what
            + " is released; it opens by itself at the end of its lease");
    return first;
  }

  private boolean isAnsweredBy(long endNanos, String what, WaitOptions options)
      throws InterruptedException {
    Duration left = until(endNanos);
    boolean waits = repeats; // Not if it failed before this could see the repeats.
    if (waits) {
      options.explain(
          "the store has not confirmed yet that %s is released; it is asked again for %s"
              .formatted(what, Durations.show(Duration.ofSeconds(left.toSeconds()))));
    }
    while (waits && !isAnswered() && !left.isZero()) {
      waits = pause.last(left);
      left = until(endNanos);
    }
    return isAnswered();
  }

  private static Duration until(long endNanos) {
    return Duration.ofNanos(Math.max(0, endNanos - System.nanoTime()));
  }

  private boolean isAnswered() {
    return repeats && unanswered.get() == 0;
  }

  @Override
  public void undoStarted(String name) {
    unanswered.incrementAndGet();
    repeats = true;
  }

  @Override
  public void undoEnded(String name) {
    unanswered.decrementAndGet();
    wakeUp.run();
  }
}
