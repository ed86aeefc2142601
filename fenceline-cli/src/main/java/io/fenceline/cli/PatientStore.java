package io.fenceline.cli;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Fenceline;
import io.fenceline.LimitExceededException;
import io.fenceline.LockLostException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.cli.options.StoreOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Asks a store that gives no answer again, for as long as the user is willing to wait. */
final class PatientStore {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
  private static final Duration FOREVER = Duration.ofDays(365);

  private final @Nullable Duration wait;
  private final Pause pause;
  private final long fromNanos = System.nanoTime();
  private boolean isFirst = true;

  /** How to pause between two attempts. */
  interface Pause {
    void last(Duration pause) throws InterruptedException;
  }

  /** Something that needs the store. */
  interface Attempt<T> {
    T make() throws InterruptedException;
  }

  /**
   * Nothing is asked yet.
   *
   * @param wait as {@code -w} gives it; null if it was not given: then a failure is told at once,
   *     so that nobody waits for an address that is wrong
   */
  PatientStore(@Nullable Duration wait, Pause pause) {
    this.wait = wait;
    this.pause = pause;
  }

  /** How much of the wait is left; null if there is no such time. */
  @Nullable Duration left() {
    if (wait == null) {
      return null;
    }
    Duration left = wait.minusNanos(System.nanoTime() - fromNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** How long the present attempt may wait: at the first one, it is what the user said. */
  @Nullable Duration leftOfAttempt() {
    return isFirst ? wait : left();
  }

  /** Makes an attempt, and others if it fails for want of a store, until the wait is over. */
  <T> T ask(Attempt<T> attempt) throws InterruptedException {
    Duration next = FIRST_PAUSE;
    while (true) {
      try {
        return attempt.make();
      } catch (StoreUnavailableException | LockLostException | LimitExceededException e) {
        Duration left = left();
        if (left == null || left.compareTo(next) <= 0) {
          throw e;
        }
      }
      isFirst = false;
      pause.last(next);
      next = next.multipliedBy(2);
      next = next.compareTo(LONGEST_PAUSE) < 0 ? next : LONGEST_PAUSE;
    }
  }

  /** Connects; the time for it is the user's, or what is left of the wait where that is more. */
  @MustBeClosed
  @SuppressWarnings("MustBeClosedChecker") // The caller closes it.
  Fenceline connect(StoreOptions store, WaitingNotice notice) {
    Fenceline connected = store.builder(left()).listener(notice).connect();
    notice.ask(connected);
    return connected;
  }

  /** As {@link #connect(StoreOptions, WaitingNotice)}, again and again within a wait. */
  @MustBeClosed
  @SuppressWarnings("MustBeClosedChecker") // The caller closes it.
  static Fenceline connect(StoreOptions store, Duration wait, WaitingNotice notice)
      throws InterruptedException {
    PatientStore patient =
        new PatientStore(
            wait.compareTo(FOREVER) >= 0 || wait.isZero() ? null : wait,
            time -> TimeUnit.MILLISECONDS.sleep(time.toMillis()));
    return patient.ask(() -> patient.connect(store, notice));
  }
}
