package io.fenceline.recipes.election;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.Optional;

/**
 * One who campaigns in the background, until it is closed.
 *
 * <p>There is no way to ask whether it leads and be told yes or no: that answer would be old when
 * it arrives. Whoever asks gets the {@link Leadership}, which knows its term and its deadline.
 *
 * <p>Thread-safe.
 */
public interface Candidate extends AutoCloseable {

  /** What a candidate does at present. */
  enum State {
    /** It waits to be elected. */
    CAMPAIGNING,
    /** It leads, or its task has not returned yet. */
    LEADING,
    /** It pauses before it campaigns again. */
    BACKING_OFF,
    /** It has ended. */
    CLOSED
  }

  /** Which election. */
  String name();

  /** Returns what it does at present. */
  State state();

  /** Returns the leadership, if it leads, its lease runs, and nothing has told it to stop. */
  Optional<Leadership> leadership();

  /**
   * Waits until this candidate leads.
   *
   * @return empty if it was not elected within {@code maxWait}, or is closed
   */
  Optional<Leadership> awaitLeadership(Duration maxWait) throws InterruptedException;

  /**
   * Gives up the leadership: the task is interrupted, and when it has returned, others get their
   * turn. This candidate campaigns again after its first back-off. Returns at once.
   *
   * @return false if it does not lead, or has been told to stop before
   */
  @CanIgnoreReturnValue
  boolean resign();

  /**
   * Ends the campaign: a task that leads is interrupted and waited for, then the next candidate is
   * let in, by one request and not by the end of a lease. A task that does not return within {@link
   * Election#stopWithin} is left behind, without its lock.
   *
   * <p>To be called before the client is closed, which would not wait for the task. From the task
   * itself, it does not wait.
   */
  @Override
  void close();
}
