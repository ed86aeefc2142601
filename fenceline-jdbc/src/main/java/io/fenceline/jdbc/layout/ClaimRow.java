package io.fenceline.jdbc.layout;

import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Owner;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** A claim in the database, holding or waiting; times are microseconds by the database's clock. */
public final class ClaimRow {
  /** An end this much further ahead than its term is still believed. */
  public static final long SLACK_MICROS = 500_000;

  public final byte[] owner;
  public final Units units;
  public final long delay;
  public final String client;
  public boolean held;
  public long place;
  public long number;
  public long since;
  public long ends;
  public long term;

  /** The end as it was read, or -1 if there is no row of it yet. */
  public long readEnds = -1;

  /** Whether what is written rests on the end that was read, which a renewal may have moved. */
  public boolean onlyIfUnchanged;

  public ClaimRow(byte[] owner, Units units, long delay, String client) {
    this.owner = owner;
    this.units = units;
    this.delay = delay;
    this.client = client;
  }

  /** Reads one from a row; null if the row has none. */
  public static @Nullable ClaimRow read(ResultSet row) throws SQLException {
    byte[] owner = row.getBytes("owner");
    if (owner == null) {
      return null;
    }
    Units units = new Units(row.getLong("units"), row.getLong("capacity"));
    ClaimRow entry = new ClaimRow(owner, units, row.getLong("delay"), row.getString("client"));
    entry.number = row.getLong("number");
    entry.since = row.getLong("since");
    entry.ends = row.getLong("ends");
    entry.term = row.getLong("term");
    entry.readEnds = entry.ends;
    return entry;
  }

  /** Whether its end can't be believed: no renewal that was granted by this time gives so much. */
  public boolean isTooFarAhead(long now) {
    return ends - now > term + SLACK_MICROS;
  }

  public boolean isOf(byte[] someOwner) {
    return Arrays.equals(owner, someOwner);
  }

  public void run(long now, long newTerm) {
    term = newTerm;
    ends = now + newTerm;
  }

  /** Runs again, unless it runs for longer: an older request may come late. */
  public boolean prolong(long now, long newTerm) {
    boolean longer = now + newTerm > ends;
    if (longer) {
      run(now, newTerm);
    }
    return longer;
  }

  /** The public name of its owner. */
  public String id() {
    return idOf(owner);
  }

  public static String idOf(byte[] owner) {
    return Owner.idOf(HexFormat.of().formatHex(owner));
  }

  /** Who it is, in one column that people can read, too. */
  public static String encode(ClientInfo info) {
    return info.pid() + "@" + info.host().replace(' ', '_') + " " + info.label();
  }

  /** Whether two clients, as encoded, are of the same process. */
  public static boolean isOfSameProcess(String one, String other) {
    return process(one).equals(process(other));
  }

  /** Process id and host of a client. */
  static String process(String client) {
    int space = client.indexOf(' ');
    return space < 0 ? client : client.substring(0, space);
  }

  public ClientInfo clientInfo() {
    return clientInfo(client);
  }

  public static ClientInfo clientInfo(String client) {
    int at = client.indexOf('@');
    int space = client.indexOf(' ', at);
    if (at < 0 || space < 0) {
      return new ClientInfo(client, "", 0);
    }
    return new ClientInfo(
        client.substring(space + 1),
        client.substring(at + 1, space),
        Long.parseLong(client.substring(0, at)));
  }
}
