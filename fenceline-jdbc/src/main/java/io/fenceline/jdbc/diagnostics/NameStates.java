package io.fenceline.jdbc.diagnostics;

import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.spi.NameState;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/** Shows rows as people see them. */
public final class NameStates {

  /**
   * A row of an inspection.
   *
   * @param now the database's time
   * @param entry who holds or waits
   */
  public record Row(long now, ClaimRow entry) {}

  private NameStates() {}

  public static ClaimRow read(ResultSet row) throws SQLException {
    ClaimRow entry = ClaimRow.read(row);
    if (entry == null) {
      throw new SQLException("a claim without an owner");
    }
    entry.held = row.getInt("held") != 0;
    return entry;
  }

  public static NameState of(String name, List<Row> rows) {
    List<NameState.Holder> holders = new ArrayList<>();
    List<NameState.Waiter> waiters = new ArrayList<>();
    for (Row row : rows) {
      ClaimRow entry = row.entry;
      if (entry.held) {
        long left = Math.min(entry.ends - row.now, entry.term);
        holders.add(
            new NameState.Holder(
                entry.id(),
                entry.clientInfo(),
                entry.units.mode(),
                entry.number,
                instant(entry.since),
                Duration.ofNanos(left * 1_000)));
      } else {
        waiters.add(
            new NameState.Waiter(
                entry.id(), entry.clientInfo(), entry.units.mode(), instant(entry.since)));
      }
    }
    holders.sort((a, b) -> Long.compare(a.number(), b.number()));
    return new NameState(name, holders, waiters);
  }

  private static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }
}
