package io.fenceline.bench;

import io.fenceline.bench.contender.Field;
import io.fenceline.bench.report.RateTable;
import io.fenceline.bench.store.Venue;
import io.fenceline.bench.work.Effort;
import io.fenceline.bench.work.Progress;
import io.fenceline.bench.work.Rates;
import io.fenceline.bench.work.Series;
import io.fenceline.bench.work.Shape;
import java.util.ArrayList;
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
    List<String> stores = new ArrayList<>();
    Effort effort = Effort.FULL;
    for (String arg : args) {
      if (arg.equals("--quick")) {
        effort = Effort.QUICK;
      } else if (Venue.ALL.contains(arg)) {
        stores.add(arg);
      } else {
        System.err.println("bench: unknown argument '" + arg + "'; stores: " + Venue.ALL);
        System.exit(64);
      }
    }
    for (String store : stores.isEmpty() ? Venue.ALL : stores) {
      measure(store, effort);
    }
    System.exit(0); // Some clients leave threads behind.
  }

  private static void measure(String store, Effort effort) throws Exception {
    Progress progress = new Progress(System.out, store);
    try (Venue venue = Venue.start(store)) {
      System.out.println(store + ": " + venue.description());
      try (Field field = Field.open(store, venue.address())) {
        Rates rates = new Rates(venue, field, effort, progress);
        rates.warmUp();
        for (Shape shape : List.of(Shape.SOLO, Shape.SPREAD, Shape.HOT)) {
          if (!field.in(shape.discipline()).isEmpty()) {
            List<Series> series = rates.measure(shape);
            System.out.println(RateTable.of(shape, series).plain());
          }
        }
      }
    }
  }
}
