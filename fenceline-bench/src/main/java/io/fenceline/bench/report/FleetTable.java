package io.fenceline.bench.report;

import io.fenceline.bench.contender.Entrant.Role;
import io.fenceline.bench.work.Fleet;
import java.util.List;
import java.util.Locale;

/** The fleet of one store: every contender, and Fenceline's ratio to it. */
public final class FleetTable {
  private FleetTable() {}

  /** The table. */
  public static Table of(List<Fleet.Result> results) {
    Fleet.Result ours = results.get(0);
    Table table =
        new Table(
            "fleet: 4 processes × 8 threads, one name",
            "cycles/s",
            "Fenceline is",
            "shares off by",
            "wait p50",
            "p99",
            "max",
            "hand-over p50",
            "p99");
    for (Fleet.Result each : results) {
      table.add(
          List.of(
              each.entrant().title(),
              RateTable.rate(each.median()),
              each.entrant().role() == Role.OURS
                  ? ""
                  : RateTable.ratio(ours.ratioTo(each).median()),
              String.format(Locale.ROOT, "%.0f %%", 100 * each.imbalance()),
              millis(each.waits().millis(0.5)),
              millis(each.waits().millis(0.99)),
              millis(each.waits().maxMillis()),
              millis(each.handOffs().millis(0.5)),
              millis(each.handOffs().millis(0.99))));
    }
    return table;
  }

  static String millis(double millis) {
    return String.format(Locale.ROOT, millis < 10 ? "%.2f ms" : "%.0f ms", millis);
  }
}
