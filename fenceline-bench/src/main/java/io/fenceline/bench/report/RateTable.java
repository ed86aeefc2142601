package io.fenceline.bench.report;

import io.fenceline.bench.contender.Entrant.Role;
import io.fenceline.bench.work.Ratio;
import io.fenceline.bench.work.Series;
import io.fenceline.bench.work.Shape;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** One work of one store: every contender, and Fenceline's ratio to it. */
public final class RateTable {
  private RateTable() {}

  /** The table of a work. */
  public static Table of(Shape shape, List<Series> series) {
    Series ours = series.get(0);
    Table table =
        new Table(
            shape.name() + ": " + shape.meaning(),
            "cycles/s",
            "Fenceline is",
            "95 %",
            "CPU client",
            "CPU server",
            "on the wire a cycle");
    for (Series each : series) {
      boolean isOurs = each.entrant().role() == Role.OURS;
      Ratio ratio = ours.ratioTo(each);
      table.add(
          List.of(
              each.entrant().title(),
              rate(each.median()),
              isOurs ? "" : ratio(ratio.median()),
              isOurs ? "" : interval(ratio),
              micros(each.cpuMicros()),
              micros(each.serverMicros()),
              wire(each)));
    }
    return table;
  }

  private static String wire(Series series) {
    return series.perCycle().stream()
        .map(count -> String.format(Locale.ROOT, "%.1f %s", count.amount(), count.kind()))
        .collect(Collectors.joining(", "));
  }

  private static String micros(double micros) {
    return micros == 0 ? "" : String.format(Locale.ROOT, "%.1f µs", micros);
  }

  static String rate(double perSecond) {
    return String.format(Locale.ROOT, perSecond < 100 ? "%.1f" : "%,.0f", perSecond);
  }

  static String interval(Ratio ratio) {
    return figure(ratio.low()) + "–" + figure(ratio.high());
  }

  static String ratio(double ratio) {
    return figure(ratio) + " ×";
  }

  static String figure(double figure) {
    return String.format(Locale.ROOT, figure < 10 ? "%.2f" : "%.0f", figure);
  }
}
