package io.fenceline.bench.report;

import io.fenceline.bench.work.Holds;
import io.fenceline.bench.work.Names;
import io.fenceline.bench.work.Waiters;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What grows with what: waiters, holds and names of one store. */
public final class GrowthTables {
  private GrowthTables() {}

  /** The table of the holds. */
  public static Table holds(List<Holds.Point> points) {
    Table table =
        new Table(
            "names held",
            "client CPU a renewal",
            "server CPU a renewal",
            "on the wire a second",
            "client memory a hold",
            "server a hold",
            "cycles/s beside them",
            "lost");
    for (Holds.Point point : points) {
      table.add(
          List.of(
              String.format(Locale.ROOT, "%,d", point.held()),
              point.clientMicros() > 0 ? micros(point.clientMicros()) : "",
              point.serverMicros() > 0 ? micros(point.serverMicros()) : "",
              point.perSecond().stream()
                  .map(c -> String.format(Locale.ROOT, "%.0f %s", c.amount(), c.kind()))
                  .collect(Collectors.joining(", ")),
              bytes(point.clientBytes()),
              bytes(point.serverBytes()),
              RateTable.rate(point.cyclesPerSecond()),
              Integer.toString(point.lost())));
    }
    return table;
  }

  /** The table of the waiters. */
  public static Table waiters(List<Waiters.Point> points) {
    Table table =
        new Table(
            "claims that wait",
            "hand-off, median",
            "client CPU a hand-off",
            "server CPU a hand-off",
            "to enqueue one");
    for (Waiters.Point point : points) {
      table.add(
          List.of(
              String.format(Locale.ROOT, "%,d", point.waiting()),
              micros(point.handOffMicros()),
              micros(point.clientMicros()),
              micros(point.serverMicros()),
              micros(point.enqueueMicros())));
    }
    return table;
  }

  /** The table of the names. */
  public static Table names(List<Names.Point> points) {
    Table table =
        new Table(
            "live names",
            "cycles/s of one more",
            "CPU client",
            "CPU server",
            "to take one of them",
            "server a name");
    for (Names.Point point : points) {
      table.add(
          List.of(
              String.format(Locale.ROOT, "%,d", point.live()),
              RateTable.rate(point.cyclesPerSecond()),
              micros(point.clientMicros()),
              micros(point.serverMicros()),
              micros(point.takeMicros()),
              bytes(point.serverBytes())));
    }
    return table;
  }

  private static String micros(double micros) {
    return String.format(Locale.ROOT, micros < 10 ? "%.1f µs" : "%,.0f µs", micros);
  }

  private static String bytes(double bytes) {
    return bytes <= 0 ? "" : String.format(Locale.ROOT, "%,.0f B", bytes);
  }
}
