package io.fenceline.recipes.ratelimit;

import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.config.Config;

/**
 * A process that takes as many permits of Redisson's limiter as there are, each time that it is
 * sent a line, and prints {@code took COUNT NANOS}, the time from the first question of all to now.
 *
 * <p>Arguments: where Redis is, how many permits in a minute.
 */
final class PeerClock {
  private PeerClock() {}

  public static void main(String[] arguments) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(1);
    RRateLimiter limiter = Redisson.create(config).getRateLimiter("peer-clock");
    boolean unused =
        limiter.trySetRate(RateType.OVERALL, Long.parseLong(arguments[1]), Duration.ofMinutes(1));
    System.out.println("ready");
    long from = 0;
    for (int line = System.in.read(); line >= 0; line = System.in.read()) {
      if (line == '\n') {
        from = from == 0 ? System.nanoTime() : from;
        int taken = 0;
        while (limiter.tryAcquire()) {
          taken++;
        }
        System.out.println("took " + taken + " " + (System.nanoTime() - from));
      }
    }
    System.exit(0); // The driver's threads are of no interest.
  }
}
