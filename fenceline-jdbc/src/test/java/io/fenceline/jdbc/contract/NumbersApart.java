package io.fenceline.jdbc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * That numbers rise although the clock is behind them: whichever statement takes the name, and also
 * when its row has forgotten what a client has seen. The same for each database.
 */
final class NumbersApart {
  private static final String NAME = "numbers-apart";

  private NumbersApart() {}

  static void check(String address, String url) throws SQLException {
    try (Fenceline ours = Fenceline.connect(address);
        Fenceline theirs = Fenceline.connect(address)) {
      Acquirable<Hold> mutex = ours.lock(NAME);
      Acquirable<Hold> reader = ours.readWriteLock(NAME).readLock();
      long last = taken(mutex, 0);
      setLastNumber(url, "last_number + 1000000000000");

      last = taken(mutex, last);
      last = taken(mutex, last);
      last = taken(theirs.lock(NAME), last);
      last = taken(mutex, last);
      last = taken(reader, last);
      last = taken(mutex, last);

      setLastNumber(url, "5");
      taken(mutex, last);
    }
  }

  private static void setLastNumber(String url, String number) throws SQLException {
    try (Connection db = DriverManager.getConnection(url);
        PreparedStatement statement =
            db.prepareStatement(
                "UPDATE fenceline_locks SET last_number = " + number + " WHERE name = ?")) {
      statement.setBytes(1, NAME.getBytes(StandardCharsets.UTF_8));
      assertThat(statement.executeUpdate()).isEqualTo(1);
    }
  }

  private static long taken(Acquirable<Hold> lock, long last) {
    Hold hold = lock.tryAcquire().orElseThrow();
    assertThat(hold.token()).isGreaterThan(last);
    hold.release();
    return hold.token();
  }
}
