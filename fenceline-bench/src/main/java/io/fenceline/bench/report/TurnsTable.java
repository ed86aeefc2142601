package io.fenceline.bench.report;

import io.fenceline.bench.contender.Entrant.Role;
import io.fenceline.bench.work.Turns;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Processes that take turns: every contender, and Fenceline's ratio to it. */
final class TurnsTable {
  private TurnsTable() {}

  static Table of(Turns.Table turns) {
    Turns.Result ours = turns.results().get(0);
    Table table =
        new Table(
            turns.crowd().title(),
            "cycles/s",
            "Fenceline is",
            "seen",
            "hand-over p50",
            "p99",
            "wait p50",
            "p99",
            "shares",
            "CPU clients",
            "CPU server",
            "on the wire a hand-over");
    for (Turns.Result each : turns.results()) {
      boolean isOurs = each.entrant().role() == Role.OURS;
      table.add(
          List.of(
              each.entrant().title(),
              RateTable.rate(each.median()),
              isOurs ? "" : RateTable.ratio(ours.ratioTo(each).median()),
              isOurs ? "" : RateTable.interval(ours.ratioTo(each)),
              FleetTable.millis(each.handOvers().millis(0.5)),
              FleetTable.millis(each.handOvers().millis(0.99)),
              FleetTable.millis(each.waits().millis(0.5)),
              FleetTable.millis(each.waits().millis(0.99)),
              shares(each),
              String.format(Locale.ROOT, "%,.0f µs", each.clientMicros()),
              each.serverMicros() == 0
                  ? ""
                  : String.format(Locale.ROOT, "%,.0f µs", each.serverMicros()),
              each.perHandOver().stream()
                  .map(sent -> String.format(Locale.ROOT, "%.1f %s", sent.amount(), sent.kind()))
                  .collect(Collectors.joining(", "))));
    }
    return table;
  }

  /** The smallest and the largest. */
  private static String shares(Turns.Result result) {
    List<Double> shares = result.shares();
    return String.format(
        Locale.ROOT, "%.1f–%.1f %%", 100 * shares.get(0), 100 * shares.get(shares.size() - 1));
  }
}
