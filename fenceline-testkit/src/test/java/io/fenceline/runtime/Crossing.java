package io.fenceline.runtime;

/**
 * Two calls that cross each other, on a fresh subject for each schedule; see {@link Preemptions}.
 */
public interface Crossing {

  /** The call that is stopped on its way. */
  void first() throws Exception;

  /** The call that runs while the first one stands still. */
  void second() throws Exception;

  /** Fails if what both have left behind can't be right, whoever came first. */
  void check() throws Exception;
}
