package io.fenceline.bench;

import io.fenceline.bench.contender.Entrant;
import io.fenceline.bench.contender.Entrant.Discipline;
import io.fenceline.bench.contender.Entrants;
import io.fenceline.bench.report.Machine;
import io.fenceline.bench.report.Page;
import io.fenceline.bench.report.StoreReport;
import io.fenceline.bench.store.Venue;
import io.fenceline.bench.work.BrokenLockException;
import io.fenceline.bench.work.Crowd;
import io.fenceline.bench.work.Effort;
import io.fenceline.bench.work.Fleet;
import io.fenceline.bench.work.Holds;
import io.fenceline.bench.work.Names;
import io.fenceline.bench.work.Progress;
import io.fenceline.bench.work.Rates;
import io.fenceline.bench.work.Shape;
import io.fenceline.bench.work.Turns;
import io.fenceline.bench.work.Waiters;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Measures Fenceline beside its peers; see {@code ./bench --help}.
 *
 * <pre>
 * java -cp … io.fenceline.bench.Bench [store…] [--quick]
 * </pre>
 */
public final class Bench {
  private Bench() {}

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Arguments arguments = Arguments.parse(List.of(args));
    Machine machine = Machine.now();
    List<StoreReport> reports = new ArrayList<>();
    for (String store : arguments.stores()) {
      reports.add(measure(store, arguments));
    }
    // A run of a part is not what the documentation shows, unless it is to be added there.
    boolean isAdded = arguments.isAdded();
    Path folder =
        Path.of(isAdded || arguments.isWhole() ? "docs" : "fenceline-bench/target/report");
    Page page = new Page(arguments.effort(), machine);
    if (isAdded) {
      page.add(folder, "./bench " + String.join(" ", args), reports);
    } else {
      page.write(folder, reports);
    }
    System.out.println("written: " + folder.resolve("benchmarks.md"));
    System.exit(0); // Some clients leave threads behind.
  }

  /** Measures one store, and prints its tables. */
  static StoreReport measure(String store, Arguments arguments) throws Exception {
    Progress progress = new Progress(System.out, store);
    try (Venue venue = Venue.start(store)) {
      System.out.println(store + ": " + venue.description());
      List<StoreReport.Rate> rates = new ArrayList<>();
      List<Fleet.Result> fleet = List.of();
      List<Entrant> field = Entrants.of(store, arguments::wantsContender);
      Effort effort = arguments.effort();
      if (arguments.wantsRates()) {
        rates.addAll(rates(store, venue, field, arguments, progress));
      }
      if (arguments.wantsWork("fleet")) {
        fleet = Fleet.measure(store, venue, field, effort, progress);
      }
      List<Turns.Table> turns = List.of();
      if (arguments.wantsWork("turns")) {
        turns = Turns.measure(store, venue, field, effort, progress);
      }
      List<Crowd.Point> crowd = List.of();
      if (!store.equals("memory") && arguments.wantsWork("crowd")) {
        crowd = orNothing(progress, () -> Crowd.measure(venue, effort, progress));
      }
      // MariaDB is here for its hand-overs.
      boolean isShared = field.get(0).takesPartIn(Discipline.FLEET);
      List<Waiters.Point> waiters = List.of();
      List<Holds.Point> holds = List.of();
      List<Names.Point> names = List.of();
      if (isShared && arguments.wantsWork("waiters")) {
        waiters = orNothing(progress, () -> Waiters.measure(venue, effort, progress));
      }
      if (isShared && arguments.wantsWork("holds")) {
        holds = orNothing(progress, () -> Holds.measure(venue, effort, progress));
      }
      if (isShared && arguments.wantsWork("names")) {
        names = orNothing(progress, () -> Names.measure(venue, effort, progress)); // The last one.
      }
      StoreReport report =
          new StoreReport(
              store,
              venue.description(),
              rates,
              fleet,
              turns,
              crowd,
              waiters,
              holds,
              names,
              progress.leftOut());
      System.out.println();
      report.tables().forEach(table -> System.out.println(table.plain()));
      return report;
    }
  }

  private static List<StoreReport.Rate> rates(
      String store, Venue venue, List<Entrant> field, Arguments arguments, Progress progress)
      throws Exception {
    List<Shape> works = new ArrayList<>();
    for (Shape shape : Shape.ALL) {
      boolean hasAny = field.stream().anyMatch(each -> each.takesPartIn(shape.discipline()));
      if (hasAny && arguments.wantsWork(shape.work())) {
        works.add(shape);
      }
    }
    List<StoreReport.Rate> results = new ArrayList<>();
    try (Rates rates = Rates.open(store, venue, field, works, arguments.effort(), progress)) {
      rates.warmUp();
      for (Shape shape : works) {
        results.add(new StoreReport.Rate(shape, rates.measure(shape)));
      }
    }
    return results;
  }

  /**
   * A curve that could not be measured is missing from the report, which says so; a lock that is
   * broken ends it.
   */
  private static <T> List<T> orNothing(Progress progress, Callable<List<T>> curve)
      throws Exception {
    try {
      return curve.call();
    } catch (BrokenLockException e) {
      throw e;
    } catch (Exception e) {
      progress.skip("it failed: " + e);
      progress.end();
      return List.of();
    }
  }
}
