package io.fenceline.recipes.cache;

/**
 * What a cache does while the store of its locks, or its shared tier, gives no answer. Only the
 * caller can know, so there is no default.
 */
public enum CacheFallback {
  /**
   * A value that is not here is not loaded; the caller gets the {@link
   * io.fenceline.StoreUnavailableException}. Right if the source can't bear many loads at once.
   */
  FAIL,
  /**
   * It is loaded without the lock, by each process for itself, and kept in the local tier only.
   * Right if an answer is worth more than the load that it costs.
   */
  LOAD
}
