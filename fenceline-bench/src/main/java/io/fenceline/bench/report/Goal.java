package io.fenceline.bench.report;

import io.fenceline.bench.work.Ratio;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * What Fenceline wants to reach, and what was measured.
 *
 * @param store of which store
 * @param text in words
 * @param wanted the figure
 * @param isLimit whether the figure must not be exceeded, instead of being reached
 * @param measured reads the figure from a report; empty if it was not measured
 */
record Goal(
    String store,
    String text,
    double wanted,
    boolean isLimit,
    Function<StoreReport, Optional<Ratio>> measured) {

  private static final String OF_FLOOR = " of the floor";
  private static final String OF_RLOCK = " of Redisson's lock";
  private static final String OF_CURATOR = " of Curator";
  private static final String OF_JETCD = " of jetcd's lock";
  private static final String OF_FAIR = " of a fair ReentrantLock";

  static final List<Goal> ALL =
      List.of(
          rate("redis", "solo", "floor", 0.9, OF_FLOOR),
          rate("redis", "solo", "fenced", 1.3, " of Redisson's fenced lock"),
          rate("redis", "spread", "floor", 0.9, OF_FLOOR),
          rate("redis", "spread", "fenced", 3, " of Redisson's fenced lock"),
          rate("redis", "hot", "jvm-fair", 0.6, OF_FAIR),
          fleet("redis", "rlock", 20, OF_RLOCK),
          new Goal(
              "redis",
              "fleet: shares of the processes off by at most 0.2",
              0.2,
              true,
              report -> report.fleetOf("fenceline").map(f -> exactly(f.imbalance()))),
          new Goal(
              "redis",
              "fleet: p99 of the wait at most 0.1 of Redisson's",
              0.1,
              true,
              report ->
                  report
                      .fleetOf("fenceline")
                      .flatMap(
                          ours ->
                              report
                                  .fleetOf("rlock")
                                  .map(
                                      other ->
                                          exactly(
                                              ours.waits().millis(0.99)
                                                  / other.waits().millis(0.99))))),
          rate("zookeeper", "solo", "floor", 0.9, OF_FLOOR),
          rate("zookeeper", "solo", "curator", 1.2, OF_CURATOR),
          rate("zookeeper", "spread", "floor", 0.9, OF_FLOOR),
          rate("zookeeper", "spread", "curator", 1.2, OF_CURATOR),
          rate("zookeeper", "hot", "jvm-fair", 0.6, OF_FAIR),
          fleet("zookeeper", "curator", 20, OF_CURATOR),
          rate("etcd", "solo", "floor", 0.9, OF_FLOOR),
          rate("etcd", "solo", "jetcd", 1, OF_JETCD),
          rate("etcd", "spread", "floor", 0.9, OF_FLOOR),
          rate("etcd", "spread", "jetcd", 1, OF_JETCD),
          rate("etcd", "hot", "jvm-fair", 0.5, OF_FAIR),
          fleet("etcd", "jetcd", 20, OF_JETCD),
          rate("postgresql", "solo", "floor", 0.9, OF_FLOOR),
          rate("postgresql", "solo", "shedlock", 1.5, " of ShedLock"),
          rate("postgresql", "spread", "floor", 0.9, OF_FLOOR),
          rate("postgresql", "spread", "shedlock", 1.5, " of ShedLock"),
          rate("postgresql", "spread", "shedlock-plain", 1.0, " of ShedLock at its best"),
          rate("postgresql", "hot", "jvm-fair", 0.6, OF_FAIR),
          fleet("postgresql", "advisory", 3, " of session advisory locks"),
          rate("sqlite", "solo", "floor", 0.8, OF_FLOOR),
          rate("sqlite", "spread", "floor", 0.8, OF_FLOOR),
          rate("sqlite", "hot", "jvm-fair", 0.6, OF_FAIR),
          rate("memory", "hot", "jvm-fair", 0.6, OF_FAIR),
          turns("redis", 2, "rlock", 1.5, OF_RLOCK),
          turns("redis", 8, "rlock", 2.5, OF_RLOCK),
          turns("redis", 32, "rlock", 4, OF_RLOCK),
          turns("zookeeper", 2, "curator", 1.2, OF_CURATOR),
          turns("zookeeper", 8, "curator", 1.5, OF_CURATOR),
          turns("zookeeper", 32, "curator", 1.5, OF_CURATOR),
          turns("etcd", 2, "jetcd", 2, OF_JETCD),
          turns("etcd", 8, "jetcd", 2, OF_JETCD),
          turns("etcd", 32, "jetcd", 2, OF_JETCD),
          turns("postgresql", 2, "ring", 0.6, OF_FLOOR),
          turns("postgresql", 8, "ring", 0.6, OF_FLOOR),
          turns("postgresql", 32, "ring", 0.5, OF_FLOOR),
          turnsOfSolo("sqlite", 2, 0.1),
          turnsOfSolo("sqlite", 8, 0.1),
          turnsOfSolo("sqlite", 32, 0.05),
          crowd("postgresql"),
          crowd("mariadb"),
          crowd("sqlite"));

  private static Goal rate(String store, String work, String id, double wanted, String of) {
    return new Goal(
        store, work + ": " + show(wanted) + of, wanted, false, report -> report.ratio(work, id));
  }

  private static Goal fleet(String store, String id, double wanted, String of) {
    return new Goal(
        store,
        "fleet: " + show(wanted) + of,
        wanted,
        false,
        report ->
            report
                .fleetOf("fenceline")
                .flatMap(ours -> report.fleetOf(id).map(other -> ours.ratioTo(other))));
  }

  private static Goal turns(String store, int processes, String id, double wanted, String of) {
    return new Goal(
        store,
        "turns of " + processes + " processes: " + show(wanted) + of,
        wanted,
        false,
        report ->
            report
                .turnsOf(processes, "fenceline")
                .flatMap(ours -> report.turnsOf(processes, id).map(ours::ratioTo)));
  }

  private static Goal turnsOfSolo(String store, int processes, double wanted) {
    return new Goal(
        store,
        "turns of " + processes + " processes: " + show(wanted) + " of its own solo rate",
        wanted,
        false,
        report ->
            report
                .turnsOf(processes, "fenceline")
                .flatMap(ours -> report.rateOf("solo", "fenceline").map(ours::ratioTo)));
  }

  private static Goal crowd(String store) {
    return new Goal(
        store,
        "crowd: median hand-over among 500 clients at most 3 × that among 10",
        3,
        true,
        report -> report.crowdGrowth(10, 500).map(Goal::exactly));
  }

  /** A figure of all rounds together. */
  private static Ratio exactly(double figure) {
    return new Ratio(figure, figure, figure);
  }

  private static String show(double figure) {
    if (figure == Math.rint(figure)) {
      return String.format(Locale.ROOT, "%.0f ×", figure);
    }
    return String.format(Locale.ROOT, figure < 0.1 ? "%.2f ×" : "%.1f ×", figure);
  }

  /** One row for each goal that was measured. */
  static Table table(List<StoreReport> reports) {
    Table table = new Table("goal", "measured", "95 %", "");
    for (Goal goal : ALL) {
      for (StoreReport report : reports) {
        if (report.store().equals(goal.store)) {
          goal.measured
              .apply(report)
              .ifPresent(
                  figure ->
                      table.add(
                          List.of(
                              goal.store + ", " + goal.text,
                              RateTable.figure(figure.median()),
                              figure.low() == figure.high() ? "" : RateTable.interval(figure),
                              goal.verdict(figure))));
        }
      }
    }
    return table;
  }

  /** In words; what another run could turn around is called close. */
  String verdict(Ratio figure) {
    String verdict = isMetBy(figure.median()) ? "met" : "**missed**";
    boolean isClose = isMetBy(figure.low()) != isMetBy(figure.high());
    return isClose ? verdict + " (close)" : verdict;
  }

  private boolean isMetBy(double figure) {
    return isLimit ? figure <= wanted : figure >= wanted;
  }
}
