package io.fenceline;

/**
 * Work that is done under a lock.
 *
 * @param <H> what is held
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface HoldAction<H extends Held, X extends Exception> {
  /** Does the work. */
  void run(H held) throws X;
}
