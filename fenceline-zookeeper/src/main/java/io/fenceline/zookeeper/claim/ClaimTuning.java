package io.fenceline.zookeeper.claim;

/**
 * Which shortcuts claims take. Tests switch them off one by one: each decides nothing that would
 * not be decided without it.
 *
 * @param hasFastPath whether a name that nobody else uses is granted without a list
 * @param shortQueue how many may be ahead for a waiter to list the queue when one has left; behind
 *     more it waits for a hand-over
 */
public record ClaimTuning(boolean hasFastPath, int shortQueue) {
  /**
   * A list is as long as its queue. Up to here it costs less than the watches and the events by
   * which a waiter hears of a hand-over without a list. Whoever joins a queue while it is short
   * lists it once, however long it has grown behind it: so many do at most. See docs/design/0022.
   */
  private static final int SHORT = 32;

  /** What every client has. */
  public static final ClaimTuning USUAL = new ClaimTuning(true, SHORT);
}
