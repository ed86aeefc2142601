package io.fenceline.examples;

import io.fenceline.Fenceline;
import io.fenceline.recipes.ratelimit.MemoryRates;
import io.fenceline.recipes.ratelimit.RateLimit;
import io.fenceline.recipes.ratelimit.RateLimitFallback;
import io.fenceline.testkit.ManualTime;
import java.io.PrintStream;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Is "100 a second" really 100 in every second? */
public final class StrictWindow {
  private static final int LIMIT = 100;
  private static final Duration SECOND = Duration.ofSeconds(1);

  private StrictWindow() {}

  /** A counter that starts again with each second, as INCR and EXPIRE make it. */
  private static final class FixedWindow {
    private final ManualTime time;
    private long second;
    private int count;

    FixedWindow(ManualTime time) {
      this.time = time;
    }

    boolean tryAcquire() {
      long now = time.wallMillis() / 1_000;
      count = now == second ? count + 1 : 1;
      second = now;
      return count <= LIMIT;
    }
  }

  /** Runs it. */
  public static void main(String[] arguments) {
    run(System.out);
  }

  static void run(PrintStream out) {
    ManualTime time = new ManualTime();
    try (Fenceline fenceline = Fenceline.builder().store("memory:strict").time(time).connect()) {
      // To just before the end of a second.
      time.advance(Duration.ofMillis(1_999 - time.wallMillis() % 1_000));
      FixedWindow fixed = new FixedWindow(time);
      RateLimit strict =
          RateLimit.strict(
              fenceline, "api", LIMIT, SECOND, MemoryRates.create(), RateLimitFallback.refuse());
      RateLimit smooth =
          RateLimit.smooth(
              fenceline,
              "api-smooth",
              LIMIT,
              SECOND,
              1,
              MemoryRates.create(),
              RateLimitFallback.refuse());

      out.println("Everybody asks, a millisecond before the second ends and a millisecond later.");
      int fixedBefore = admitted(fixed::tryAcquire);
      int strictBefore = admitted(strict::tryAcquire);
      int smoothBefore = admitted(smooth::tryAcquire);
      time.advance(Duration.ofMillis(1));
      int fixedAfter = admitted(fixed::tryAcquire);
      int strictAfter = admitted(strict::tryAcquire);
      out.printf("A counter for each second: %3d + %3d, 1 ms apart.%n", fixedBefore, fixedAfter);
      out.printf("A strict limit:            %3d + %3d.%n", strictBefore, strictAfter);
      out.printf("The next one is there in %d ms.%n", strict.untilNext(1).toMillis());
      out.printf(
          "A smooth limit: %d, and the next one in %d ms.%n",
          smoothBefore, smooth.untilNext(1).toMillis());
    }
  }

  private static int admitted(BooleanSupplier question) {
    int admitted = 0;
    for (int i = 0; i < 3 * LIMIT; i++) {
      admitted += question.getAsBoolean() ? 1 : 0;
    }
    return admitted;
  }
}
