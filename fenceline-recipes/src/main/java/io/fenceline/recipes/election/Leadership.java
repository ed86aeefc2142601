package io.fenceline.recipes.election;

import io.fenceline.FencingToken;
import io.fenceline.LimitExceededException;
import io.fenceline.LockLostException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;

/**
 * The office of a leader, for one term.
 *
 * <pre>{@code
 * leadership.ensure(Duration.ofSeconds(2)); // Throws if this is no longer the leader.
 * ledger.append(entry, leadership.term()); // Refused if a later leader has written.
 * }</pre>
 *
 * <p>Its deadline is kept by the local clock, and lies before the moment at which the store lets
 * another leader in. A process that stands still can't notice that: so the term goes along with
 * every write, and the guarded resource refuses one that was overtaken.
 *
 * <p>Thread-safe.
 */
public interface Leadership {

  /** Returns which election. */
  String name();

  /** Returns the term: a fencing token, larger than that of every earlier leader. */
  long term();

  /** Returns the term, as a fence takes it. */
  FencingToken fencingToken();

  /** Returns when the term began, by the wall clock. */
  Instant since();

  /** Returns whether the lease still runs, judged by the local clocks alone, without I/O. */
  boolean isValid();

  /** Returns how long the lease runs if it is not renewed; zero when the leadership is over. */
  Duration remaining();

  /**
   * Returns if the lease runs for at least that long, renewing it if need be.
   *
   * @throws LockLostException if it is lost
   * @throws LimitExceededException if it runs, but not for that long
   * @throws IllegalStateException if it was given up
   */
  void ensure(Duration duration) throws InterruptedException;

  /**
   * Calls a listener when the term has to end though its task has not returned: at the deadline, if
   * the lock is lost; at once if it was told already; never if the task returns first.
   */
  void onLost(Consumer<? super TermEnd> listener);

  /**
   * Waits, for this long or until the term has to end. In the task itself, an answer that the term
   * has to end uses up the interrupt that says the same.
   *
   * @return whether the term has to end
   */
  boolean awaitEnd(Duration maxWait) throws InterruptedException;
}
