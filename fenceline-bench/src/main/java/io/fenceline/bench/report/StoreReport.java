package io.fenceline.bench.report;

import io.fenceline.bench.work.Crowd;
import io.fenceline.bench.work.Fleet;
import io.fenceline.bench.work.Holds;
import io.fenceline.bench.work.Names;
import io.fenceline.bench.work.Ratio;
import io.fenceline.bench.work.Series;
import io.fenceline.bench.work.Shape;
import io.fenceline.bench.work.Turns;
import io.fenceline.bench.work.Waiters;
import java.util.List;
import java.util.Optional;

/**
 * All that was measured of one store.
 *
 * @param store its name
 * @param description what ran there
 * @param rates the works of one process
 * @param fleet the work of several; empty if it was not run
 * @param turns the works of several of one thread; empty if they were not run
 * @param crowd hand-overs by clients that wait; empty if it was not run
 * @param waiters hand-offs by waiters; empty if it was not run
 * @param holds renewals by holds; empty if it was not run
 * @param names cycles by live names; empty if it was not run
 * @param leftOut what was not measured, and why
 */
public record StoreReport(
    String store,
    String description,
    List<Rate> rates,
    List<Fleet.Result> fleet,
    List<Turns.Table> turns,
    List<Crowd.Point> crowd,
    List<Waiters.Point> waiters,
    List<Holds.Point> holds,
    List<Names.Point> names,
    List<String> leftOut) {

  /**
   * One work of one process.
   *
   * @param shape who wanted what
   * @param series of each contender, Fenceline's first
   */
  public record Rate(Shape shape, List<Series> series) {
    Optional<Series> of(String id) {
      return series.stream().filter(each -> each.entrant().id().equals(id)).findFirst();
    }
  }

  /** Fenceline's ratio to a contender in a work of one process. */
  Optional<Ratio> ratio(String work, String id) {
    return rates.stream()
        .filter(rate -> rate.shape().name().equals(work))
        .findFirst()
        .flatMap(rate -> rate.of(id).map(other -> rate.series().get(0).ratioTo(other)));
  }

  /** Cycles a second of a contender in a work of one process. */
  Optional<Double> rateOf(String work, String id) {
    return rates.stream()
        .filter(rate -> rate.shape().name().equals(work))
        .findFirst()
        .flatMap(rate -> rate.of(id))
        .map(Series::median);
  }

  Optional<Fleet.Result> fleetOf(String id) {
    return fleet.stream().filter(each -> each.entrant().id().equals(id)).findFirst();
  }

  /** What a contender did with nothing inside. */
  Optional<Turns.Result> turnsOf(int processes, String id) {
    return turns.stream()
        .filter(table -> table.crowd().equals(new Turns.Crowd(processes, 0)))
        .flatMap(table -> table.results().stream())
        .filter(each -> each.entrant().id().equals(id))
        .findFirst();
  }

  /** How much longer the median hand-over takes with so many clients than with so few. */
  public Optional<Double> crowdGrowth(int few, int many) {
    return crowdOf(few)
        .flatMap(
            less ->
                crowdOf(many)
                    .map(more -> more.handOvers().millis(0.5) / less.handOvers().millis(0.5)));
  }

  private Optional<Crowd.Point> crowdOf(int clients) {
    return crowd.stream().filter(point -> point.clients() == clients).findFirst();
  }

  /** All tables, in order. */
  public List<Table> tables() {
    List<Table> tables = new java.util.ArrayList<>();
    rates.forEach(rate -> tables.add(RateTable.of(rate.shape(), rate.series())));
    if (!fleet.isEmpty()) {
      tables.add(FleetTable.of(fleet));
    }
    turns.forEach(table -> tables.add(TurnsTable.of(table)));
    if (!crowd.isEmpty()) {
      tables.add(GrowthTables.crowd(crowd));
    }
    if (!waiters.isEmpty()) {
      tables.add(GrowthTables.waiters(waiters));
    }
    if (!holds.isEmpty()) {
      tables.add(GrowthTables.holds(holds));
    }
    if (!names.isEmpty()) {
      tables.add(GrowthTables.names(names));
    }
    return tables;
  }
}
