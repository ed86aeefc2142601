package io.fenceline.jdbc.diagnostics;

import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.spi.NameState;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Who holds a name and who waits for it, as people see it. */
public final class Inspector {
  private final Statements statements;

  public Inspector(Statements statements) {
    this.statements = statements;
  }

  public NameState inspect(SqlConnection db, String name) throws SQLException {
    List<NameState.Holder> holders = new ArrayList<>();
    List<NameState.Waiter> waiters = new ArrayList<>();
    db.call(statements.inspect)
        .set("name", name.getBytes(StandardCharsets.UTF_8))
        .rows(row -> read(row, holders, waiters));
    holders.sort(Comparator.comparingLong(NameState.Holder::number));
    return new NameState(name, holders, waiters);
  }

  private static boolean read(
      ResultSet row, List<NameState.Holder> holders, List<NameState.Waiter> waiters)
      throws SQLException {
    ClaimRow claim = ClaimRow.read(row);
    if (claim == null) {
      throw new SQLException("a claim without an owner");
    }
    if (row.getInt("held") == 0) {
      return waiters.add(
          new NameState.Waiter(
              claim.id(), claim.clientInfo(), claim.units.mode(), instant(claim.since)));
    }
    long left = Math.min(claim.ends - row.getLong("now"), claim.term);
    return holders.add(
        new NameState.Holder(
            claim.id(),
            claim.clientInfo(),
            claim.units.mode(),
            claim.number,
            instant(claim.since),
            Duration.ofNanos(left * 1_000)));
  }

  private static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  /** Lists names that begin like this and that somebody holds or waits for. */
  public List<NameState> list(SqlConnection db, String prefix, int limit) throws SQLException {
    byte[] start = prefix.getBytes(StandardCharsets.UTF_8);
    byte[] low = start.length == 0 ? Tables.BEFORE_ALL_NAMES : start;
    byte[] high = Arrays.copyOf(start, start.length + 1);
    high[start.length] = (byte) 0xFF; // No byte of UTF-8 is as large.
    List<NameState> found = new ArrayList<>();
    byte[] after = Tables.BEFORE_ALL_NAMES;
    while (found.size() < limit) {
      int page = limit - found.size();
      List<byte[]> names =
          db.call(statements.list)
              .set("after", after)
              .set("low", low)
              .set("high", high)
              .set("limit", page)
              .rows(row -> row.getBytes(1));
      for (byte[] name : names) {
        NameState state = inspect(db, new String(name, StandardCharsets.UTF_8));
        if (!state.holders().isEmpty() || !state.waiters().isEmpty()) {
          found.add(state);
        }
        after = name;
      }
      if (names.size() < page) {
        break;
      }
    }
    return found;
  }
}
