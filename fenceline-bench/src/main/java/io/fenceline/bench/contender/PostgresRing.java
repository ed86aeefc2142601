package io.fenceline.bench.contender;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Taking turns in PostgreSQL without a lock: a ring of processes, each with a channel of its own.
 * Whoever is told raises a number by one update that is on disk before it is answered, and tells
 * the next by one statement, whose commit need not be.
 */
final class PostgresRing implements Contender {
  private static final String RAISE =
      "UPDATE ring_numbers SET number = number + 1 WHERE name = ? RETURNING number";
  private static final String TELL =
      "SELECT pg_notify(?, ''), set_config('synchronous_commit', 'off', true)";

  private final Place place = Place.here();
  private final Connection listening;
  private final Connection working;

  PostgresRing(String address) throws SQLException {
    this.listening = DriverManager.getConnection(address);
    this.working = DriverManager.getConnection(address);
    Database.create(working, "ring_numbers (name text PRIMARY KEY, number bigint)");
  }

  @Override
  public Cycle on(String name) throws SQLException {
    String ring = "ring_" + name.replace('-', '_') + "_";
    try (Statement statement = listening.createStatement()) {
      statement.execute("LISTEN " + ring + place.index());
      statement.execute(
          "INSERT INTO ring_numbers VALUES ('" + name + "', 0) ON CONFLICT DO NOTHING");
    }
    PGConnection notified = listening.unwrap(PGConnection.class);
    PreparedStatement raise = working.prepareStatement(RAISE);
    raise.setString(1, name);
    PreparedStatement tell = working.prepareStatement(TELL);
    tell.setString(1, ring + place.next());
    boolean[] first = {place.index() == 0};
    return section -> {
      if (!first[0]) {
        PGNotification[] heard = notified.getNotifications(Floors.LONGEST_WAIT_MILLIS);
        if (heard == null || heard.length == 0) {
          return;
        }
      }
      first[0] = false;
      long number;
      try (ResultSet row = raise.executeQuery()) {
        Floors.check(row.next());
        number = row.getLong(1);
      }
      section.run(number);
      tell.executeQuery().close();
    };
  }

  @Override
  public void close() throws SQLException {
    listening.close();
    working.close();
  }
}
