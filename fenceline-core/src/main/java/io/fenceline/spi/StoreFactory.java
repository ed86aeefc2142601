package io.fenceline.spi;

import io.fenceline.Store;

/** Opens a store for a client: from an address, or from a driver that the user already has. */
@FunctionalInterface
public interface StoreFactory extends Store {

  /**
   * Opens the store.
   *
   * @throws io.fenceline.StoreUnavailableException if it can't be reached within the connect
   *     timeout
   */
  LockStore open(StoreContext context);
}
