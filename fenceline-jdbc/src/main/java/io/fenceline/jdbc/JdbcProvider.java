package io.fenceline.jdbc;

import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreProvider;
import java.util.Set;

/** Finds databases by {@code sqlite:} and {@code jdbc:} addresses. */
public final class JdbcProvider implements StoreProvider {

  /** For {@link java.util.ServiceLoader}. */
  public JdbcProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("sqlite", "jdbc:sqlite");
  }

  @Override
  public StoreFactory at(StoreAddress address) {
    return JdbcStore.at(address);
  }
}
