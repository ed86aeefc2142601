package io.fenceline.recipes.ratelimit;

import io.fenceline.Fenceline;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.BucketProxy;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.config.Config;

/**
 * A process that asks for permits as fast as it can.
 *
 * <p>Prints {@code ready}, waits for a line, asks, and prints {@code took FROM TO AT} for each
 * permit: between which moments of the machine's clock it was taken, in microseconds, and when by
 * the store's clock, if that is told; then {@code done QUESTIONS}.
 *
 * <p>Arguments: whose limit, where, the name, how many permits in a second, for how many seconds at
 * least, how many permits to take at least.
 */
final class Asker {
  private Asker() {}

  /** Asks once: when by the store's clock, 0 if that is not told, -1 if there is none. */
  private interface Question {
    long ask() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    int permits = Integer.parseInt(arguments[3]);
    Question question =
        switch (arguments[0]) {
          case "fenceline" -> fenceline(arguments[1], arguments[2], permits);
          case "redisson" -> redisson(arguments[1], arguments[2], permits);
          case "bucket4j" -> bucket4j(arguments[1], arguments[2], permits);
          default -> throw new IllegalArgumentException(arguments[0]);
        };
    long length = Duration.ofSeconds(Long.parseLong(arguments[4])).toNanos();
    List<String> took = new ArrayList<>();
    System.out.println("ready");
    int go = System.in.read();
    long start = System.nanoTime();
    long questions = 0;
    int atLeast = Integer.parseInt(arguments[5]);
    while (System.nanoTime() - start < length || took.size() < atLeast) {
      long from = System.nanoTime() / 1_000;
      long at = question.ask();
      long to = System.nanoTime() / 1_000;
      questions++;
      if (at >= 0) {
        took.add("took " + from + " " + to + " " + at);
      }
    }
    took.forEach(System.out::println);
    System.out.println("done " + questions);
    System.exit(0); // The driver's threads are of no interest.
  }

  @SuppressWarnings("MustBeClosedChecker") // It ends with the process.
  private static Question fenceline(String uri, String name, int permits) {
    Fenceline fenceline = Fenceline.connect("memory:asker");
    RateLimit limit =
        RateLimit.strict(
            fenceline,
            name,
            permits,
            Duration.ofSeconds(1),
            Place.store(uri),
            RateLimitFallback.refuse());
    return () -> {
      Admission admission = limit.ask(1);
      return admission.isAdmitted()
          ? Math.addExact(
              Math.multiplyExact(admission.at().getEpochSecond(), 1_000_000L),
              admission.at().getNano() / 1_000)
          : -1;
    };
  }

  private static Question redisson(String uri, String name, int permits) {
    Config config = new Config();
    config.useSingleServer().setAddress(uri).setConnectionMinimumIdleSize(1);
    RRateLimiter limiter = Redisson.create(config).getRateLimiter(name);
    boolean unused = limiter.trySetRate(RateType.OVERALL, permits, Duration.ofSeconds(1));
    return () -> limiter.tryAcquire() ? 0 : -1;
  }

  private static Question bucket4j(String uri, String name, int permits) {
    BucketConfiguration configuration =
        BucketConfiguration.builder()
            .addLimit(
                Bandwidth.builder()
                    .capacity(permits)
                    .refillGreedy(permits, Duration.ofSeconds(1))
                    .build())
            .build();
    BucketProxy bucket =
        Bucket4jLettuce.casBasedBuilder(RedisClient.create(uri).connect(ByteArrayCodec.INSTANCE))
            .build()
            .builder()
            .build(name.getBytes(StandardCharsets.UTF_8), () -> configuration);
    return () -> bucket.tryConsume(1) ? 0 : -1;
  }
}
