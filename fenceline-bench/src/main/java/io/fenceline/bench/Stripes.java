package io.fenceline.bench;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.recipes.striped.StripedLocks;
import io.fenceline.testbed.server.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;

/**
 * How many acquisitions a second 64 threads have on 10,000 keys, by the number of stripes; see
 * {@code ./bench --help}.
 *
 * <p>Argument: for how many seconds each.
 */
public final class Stripes {
  private static final int THREADS = 64;
  private static final int KEYS = 10_000;
  private static final Duration AMPLE = Duration.ofMinutes(1);

  private Stripes() {}

  /** Runs it. */
  public static void main(String[] arguments) throws Exception {
    int seconds = arguments.length == 0 ? 10 : Integer.parseInt(arguments[0]);
    try (RedisServer redis = RedisServer.start()) {
      measure("memory:stripes", 256, 1); // Warm.
      System.out.printf("%-8s %8s %8s %8s%n", "", "1", "16", "256 stripes");
      for (String uri : List.of("memory:stripes", redis.uri())) {
        List<String> row = new ArrayList<>();
        for (int count : new int[] {1, 16, 256}) {
          row.add("%,8d".formatted(measure(uri, count, seconds) / seconds));
        }
        System.out.printf(
            "%-8s %s  acquisitions a second%n",
            uri.substring(0, uri.indexOf(':')), String.join(" ", row));
      }
    }
    System.exit(0); // Some clients leave threads behind.
  }

  private static long measure(String uri, int count, int seconds) throws Exception {
    try (Fenceline fenceline = Fenceline.connect(uri);
        StripedLocks stripes = StripedLocks.of(fenceline, "bench-" + count, count)) {
      long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
      List<FutureTask<Long>> tasks = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Random random = new Random(i);
        tasks.add(
            new FutureTask<>(
                () -> {
                  long done = 0;
                  for (; System.nanoTime() < end; done++) {
                    String key = "key-" + random.nextInt(KEYS);
                    try (Hold hold = stripes.lock(key).acquire(AMPLE)) {
                      hold.ensure(Duration.ZERO);
                    }
                  }
                  return done;
                }));
      }
      tasks.forEach(task -> new Thread(task).start());
      long done = 0;
      for (FutureTask<Long> task : tasks) {
        done += task.get();
      }
      return done;
    }
  }
}
