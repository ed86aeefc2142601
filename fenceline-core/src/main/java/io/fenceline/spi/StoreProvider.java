package io.fenceline.spi;

import java.util.List;
import java.util.Set;

/**
 * Finds a store by the scheme of its URI.
 *
 * <p>Providers are found by {@link java.util.ServiceLoader}; an artifact on the path is enough.
 */
public interface StoreProvider {

  /** Returns the schemes of this store, such as {@code redis} or {@code jdbc:postgresql}. */
  Set<String> schemes();

  /**
   * Returns the kinds of store behind these schemes, for people who choose one; does not connect.
   */
  default List<StoreKind> kinds() {
    return List.of();
  }

  /**
   * Returns a factory for the store at an address; does not connect yet.
   *
   * @throws io.fenceline.settings.InvalidSettingException if the address is not one
   */
  StoreFactory at(StoreAddress address);
}
