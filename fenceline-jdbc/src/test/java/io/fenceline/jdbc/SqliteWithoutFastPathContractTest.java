package io.fenceline.jdbc;

import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The contract on the path that decides: every claim locks the row of its name and reads it. */
@Tag("long")
class SqliteWithoutFastPathContractTest extends LockContract {
  @TempDir static Path folder;

  @Override
  protected StoreHarness harness() {
    JdbcStores store = JdbcStores.sqlite(folder.resolve("locks.db")).withoutFastPath();
    return StoreHarness.onManualTime(time -> store);
  }

  @Override
  protected Optional<Proxied> proxied() {
    return Optional.empty(); // A file has no network.
  }
}
