package io.fenceline.jdbc.contract;

import io.fenceline.jdbc.JdbcProvider;
import io.fenceline.spi.StoreAddress;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SQLite keeps the contract. It takes its time from its clients, so the tests own that, too. A file
 * has no network whose replies could be kept back (a writer that stands still is in {@code
 * ProcessTest}), its settings are our own, and so are its connections: a data source of SQLite is
 * refused.
 */
class SqliteContractTest extends LockContract {
  @TempDir static Path folder;

  @Override
  protected StoreHarness harness() {
    StoreAddress address = StoreAddress.parse("sqlite:" + folder.resolve("locks.db"));
    return StoreHarness.onManualTime(time -> new JdbcProvider().at(address));
  }

  @Override
  protected Optional<Proxied> proxied() {
    return Optional.empty(); // A file has no network.
  }

  @Test
  void numbersRise_althoughTheClockIsBehind() throws Exception {
    Path file = folder.resolve("numbers.db");
    NumbersApart.check("sqlite:" + file, "jdbc:sqlite:" + file);
  }
}
