package io.fenceline.recipes.cache;

/**
 * Loads the value of a key.
 *
 * @param <V> the value
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface Loader<V, X extends Exception> {

  /** Loads it. Null is no value, and an exception is not cached. */
  V load(String key) throws X;
}
