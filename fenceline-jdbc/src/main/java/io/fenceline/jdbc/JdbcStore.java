package io.fenceline.jdbc;

import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import java.nio.file.Path;

/** Locks in a database. */
public final class JdbcStore implements StoreFactory {
  private final Path file;
  private Tables tables = Tables.DEFAULT;

  private JdbcStore(Path file) {
    this.file = file;
  }

  static JdbcStore at(StoreAddress address) {
    if (!address.hosts().isEmpty() || !address.parameters().isEmpty()) {
      throw address.invalid("use sqlite:/path/to/file, or sqlite: for the default file");
    }
    return new JdbcStore(SqliteFile.at(address.path()));
  }

  /** How the names of the tables begin; {@code fenceline} by default. */
  public JdbcStore tablePrefix(String prefix) {
    this.tables = new Tables(tables.schema(), prefix);
    return this;
  }

  @Override
  public LockStore open(StoreContext context) {
    return SqliteStore.open(file, tables, context);
  }
}
