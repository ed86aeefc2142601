package io.fenceline.metrics;

/** Makes the observer of a client; for {@link io.fenceline.FencelineBuilder#observer}. */
@FunctionalInterface
public interface ObserverFactory {

  /**
   * Makes the observer of one client.
   *
   * @param storeKind the kind of its store, such as {@code redis}; without address or secrets
   */
  LockObserver observe(String storeKind);
}
