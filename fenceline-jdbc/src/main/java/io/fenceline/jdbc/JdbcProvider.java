package io.fenceline.jdbc;

import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreKind;
import io.fenceline.spi.StoreProvider;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Finds databases by {@code sqlite:} and {@code jdbc:} addresses. */
public final class JdbcProvider implements StoreProvider {
  static final Set<String> SCHEMES =
      new TreeSet<>(
          Set.of("sqlite", "jdbc:sqlite", "jdbc:postgresql", "jdbc:mariadb", "jdbc:mysql"));

  /** For {@link java.util.ServiceLoader}. */
  public JdbcProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.copyOf(SCHEMES);
  }

  @Override
  public List<StoreKind> kinds() {
    return List.of(
        new StoreKind(
            List.of("sqlite:", "sqlite:/path/locks.db"),
            StoreKind.Consistency.SINGLE,
            "one transaction on a local file, below 1 ms",
            SqliteOpener.GUARANTEES),
        new StoreKind(
            List.of("jdbc:postgresql://host[:5432]/database?user=…&password=…"),
            StoreKind.Consistency.SINGLE,
            "one statement and one flush to disk, about 1 ms",
            ServerOpener.guarantees(Database.POSTGRESQL)),
        new StoreKind(
            List.of("jdbc:mariadb://host[:3306]/database?user=…&password=…"),
            StoreKind.Consistency.SINGLE,
            "one statement and one flush to disk, about 1 ms",
            ServerOpener.guarantees(Database.MARIADB)),
        new StoreKind(
            List.of("jdbc:mysql://host[:3306]/database?user=…&password=…"),
            StoreKind.Consistency.SINGLE,
            "one statement and one flush to disk, about 1 ms",
            ServerOpener.guarantees(Database.MYSQL)));
  }

  @Override
  public StoreFactory at(StoreAddress address) {
    return JdbcStores.at(address);
  }
}
