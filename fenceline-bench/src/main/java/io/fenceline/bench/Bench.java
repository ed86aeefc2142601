package io.fenceline.bench;

import io.fenceline.bench.contender.Field;
import io.fenceline.bench.report.RateTable;
import io.fenceline.bench.store.Venue;
import io.fenceline.bench.work.Progress;
import io.fenceline.bench.work.Rates;
import io.fenceline.bench.work.Series;
import io.fenceline.bench.work.Shape;
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
        rates.warmUp();
        for (Shape shape : List.of(Shape.SOLO, Shape.SPREAD, Shape.HOT)) {
          if (arguments.wantsWork(shape.name()) && !field.in(shape.discipline()).isEmpty()) {
            List<Series> series = rates.measure(shape);
            System.out.println(RateTable.of(shape, series).plain());
          }
        }
      }
    }
  }
}
