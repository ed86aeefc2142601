package io.fenceline;

/**
 * Work that is done under a lock and gives a result.
 *
 * @param <H> what is held
 * @param <T> the result
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface HoldTask<H extends Held, T, X extends Exception> {
  /** Does the work. */
  T call(H held) throws X;
}
