package io.fenceline.bench;

import io.fenceline.bench.contender.Field;
import io.fenceline.bench.report.FleetTable;
import io.fenceline.bench.report.GrowthTables;
import io.fenceline.bench.report.RateTable;
import io.fenceline.bench.store.Venue;
import io.fenceline.bench.work.Fleet;
import io.fenceline.bench.work.Holds;
import io.fenceline.bench.work.Progress;
import io.fenceline.bench.work.Rates;
import io.fenceline.bench.work.Series;
import io.fenceline.bench.work.Shape;
import io.fenceline.bench.work.Waiters;
import java.util.List;

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
    for (String store : arguments.stores()) {
      measure(store, arguments);
    }
    System.exit(0); // Some clients leave threads behind.
  }

  private static void measure(String store, Arguments arguments) throws Exception {
    Progress progress = new Progress(System.out, store);
    try (Venue venue = Venue.start(store)) {
      System.out.println(store + ": " + venue.description());
      try (Field field = Field.open(store, venue.address(), arguments::wantsContender)) {
        Rates rates = new Rates(venue, field, arguments.effort(), progress);
        if (arguments.wantsRates()) {
          rates.warmUp();
        }
        for (Shape shape :
            List.of(Shape.SOLO, Shape.SPREAD, Shape.HOT, Shape.busy(1), Shape.busy(10))) {
          if (arguments.wantsWork(shape.name()) && !field.in(shape.discipline()).isEmpty()) {
            List<Series> series = rates.measure(shape);
            System.out.println(RateTable.of(shape, series).plain());
          }
        }
        if (arguments.wantsWork("fleet")) {
          List<Fleet.Result> fleet =
              Fleet.measure(store, venue, field, arguments.effort(), progress);
          if (!fleet.isEmpty()) {
            System.out.println(FleetTable.of(fleet).plain());
          }
        }
      }
      if (arguments.wantsWork("waiters")) {
        List<Waiters.Point> points = Waiters.measure(venue, arguments.effort(), progress);
        System.out.println(GrowthTables.waiters(points).plain());
      }
      if (arguments.wantsWork("holds")) {
        List<Holds.Point> points = Holds.measure(venue, arguments.effort(), progress);
        System.out.println(GrowthTables.holds(points).plain());
      }
    }
  }
}
