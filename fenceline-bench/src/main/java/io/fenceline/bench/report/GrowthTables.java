package io.fenceline.bench.report;

import io.fenceline.bench.work.Crowd;
import io.fenceline.bench.work.Holds;
import io.fenceline.bench.work.Names;
import io.fenceline.bench.work.Waiters;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What grows with what: waiters, holds and names of one store. */
public final class GrowthTables {
  private GrowthTables() {}

  /** A column: its head, and what it says of a point. */
  private record Column<P>(String head, Function<P, String> cell) {}

  private static <P> Column<P> column(String head, Function<P, String> cell) {
    return new Column<>(head, cell);
  }

  private static <P> Table table(List<P> points, List<Column<P>> columns) {
    Table table = new Table(columns.stream().map(Column::head).toArray(String[]::new));
    for (P point : points) {
      table.add(columns.stream().map(column -> column.cell.apply(point)).toList());
    }
    return table;
  }

  /** The table of the holds. */
  public static Table holds(List<Holds.Point> points) {
    return table(
        points,
        List.of(
            column("names held", point -> count(point.held())),
            column("client CPU a renewal", point -> microsIfAny(point.clientMicros())),
            column("server CPU a renewal", point -> microsIfAny(point.serverMicros())),
            column("on the wire a second", GrowthTables::onTheWire),
            column("client memory a hold", point -> bytes(point.clientBytes())),
            column("server a hold", point -> bytes(point.serverBytes())),
            column("cycles/s beside them", point -> RateTable.rate(point.cyclesPerSecond())),
            column("lost", point -> Integer.toString(point.lost()))));
  }

  private static String onTheWire(Holds.Point point) {
    return point.perSecond().stream()
        .map(c -> String.format(Locale.ROOT, "%.0f %s", c.amount(), c.kind()))
        .collect(Collectors.joining(", "));
  }

  /** The table of the crowds. */
  public static Table crowd(List<Crowd.Point> points) {
    return table(
        points,
        List.of(
            column("clients that want it", point -> count(point.clients())),
            column("hand-over p50", point -> FleetTable.millis(point.handOvers().millis(0.5))),
            column("p99", point -> FleetTable.millis(point.handOvers().millis(0.99))),
            column("cycles/s", point -> RateTable.rate(point.cyclesPerSecond())),
            column("CPU clients", point -> micros(point.clientMicros())),
            column("CPU server", point -> microsIfAny(point.serverMicros())),
            column("on the wire a hand-over", GrowthTables::onTheWire),
            column("timed out", point -> Long.toString(point.failures()))));
  }

  private static String onTheWire(Crowd.Point point) {
    return point.perHandOver().stream()
        .map(c -> String.format(Locale.ROOT, "%.1f %s", c.amount(), c.kind()))
        .collect(Collectors.joining(", "));
  }

  /** The table of the waiters. */
  public static Table waiters(List<Waiters.Point> points) {
    return table(
        points,
        List.of(
            column("claims that wait", point -> count(point.waiting())),
            column("hand-over, median", point -> micros(point.handOffMicros())),
            column("client CPU a hand-over", point -> micros(point.clientMicros())),
            column("server CPU a hand-over", point -> micros(point.serverMicros())),
            column("to enqueue one", point -> micros(point.enqueueMicros()))));
  }

  /** The table of the names. */
  public static Table names(List<Names.Point> points) {
    return table(
        points,
        List.of(
            column("live names", point -> count(point.live())),
            column("cycles/s of one more", point -> RateTable.rate(point.cyclesPerSecond())),
            column("CPU client", point -> micros(point.clientMicros())),
            column("CPU server", point -> micros(point.serverMicros())),
            column("to take one of them", point -> micros(point.takeMicros())),
            column("server a name", point -> bytes(point.serverBytes()))));
  }

  private static String count(int count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  private static String microsIfAny(double micros) {
    return micros > 0 ? micros(micros) : "";
  }

  private static String micros(double micros) {
    return String.format(Locale.ROOT, micros < 10 ? "%.1f µs" : "%,.0f µs", micros);
  }

  private static String bytes(double bytes) {
    return bytes <= 0 ? "" : String.format(Locale.ROOT, "%,.0f B", bytes);
  }
}
