package io.fenceline.recipes.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testkit.Eventually;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.BucketProxy;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What well-known limiters admit within one period, shown on them; and ours, asked the same way.
 */
@Tag("long")
class PeerLimitsTest {
  private static final Duration AMPLE = Duration.ofMinutes(2);
  private static final Duration PERIOD = Duration.ofMinutes(1);
  private static final int PERMITS = 60;

  /** RRateLimiter sends the clock of its client along: when that steps, the window is forgotten. */
  @Test
  void redissonsRateLimiter_admitsTwiceAsMany_whenTheClockOfAClientSteps() {
    try (JavaProcess client =
        JavaProcess.of(PeerClock.class)
            .argument(Place.REDIS.uri())
            .argument(Integer.toString(PERMITS))
            .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
            .fakeTime()
            .start()) {
      client.expect("ready", AMPLE);
      client.send("take");
      String[] first = client.expect("took ", AMPLE).split(" ");
      client.clockOffset(Duration.ofMinutes(2));
      int more = 0;
      String[] last = first;
      // The step reaches the process a moment later.
      for (int i = 0; i < 100 && more == 0; i++) {
        client.send("take");
        last = client.expect("took ", AMPLE).split(" ");
        more += Integer.parseInt(last[1]);
      }
      assertThat(Long.parseLong(last[2])).as("all in one period").isLessThan(PERIOD.toNanos());
      assertThat(Integer.parseInt(first[1]) + more).isEqualTo(2 * PERMITS);
    }
  }

  /** A bucket that is refilled while it is emptied has more than its limit in one period. */
  @Test
  void bucket4j_admitsMoreThanTheLimit_inOnePeriod() {
    BucketConfiguration configuration =
        BucketConfiguration.builder()
            .addLimit(Bandwidth.builder().capacity(PERMITS).refillGreedy(PERMITS, PERIOD).build())
            .build();
    RedisClient client = RedisClient.create(Place.REDIS.uri());
    BucketProxy bucket =
        Bucket4jLettuce.casBasedBuilder(client.connect(ByteArrayCodec.INSTANCE))
            .build()
            .builder()
            .build("peer-bucket".getBytes(StandardCharsets.UTF_8), () -> configuration);
    assertThat(takenInHalfAPeriod(() -> bucket.tryConsume(1), PERMITS + 1)).isEqualTo(PERMITS + 1);
    client.shutdown();
  }

  /** Ours has exactly its limit, however it is asked. */
  @Test
  void strictLimit_admitsNoMore() {
    try (Fenceline fenceline = Fenceline.connect("memory:peers")) {
      RateLimit limit =
          RateLimit.strict(
              fenceline, "peers", PERMITS, PERIOD, Place.REDIS.store(), RateLimitFallback.refuse());
      assertThat(takenInHalfAPeriod(limit::tryAcquire, PERMITS)).isEqualTo(PERMITS);
      long from = System.nanoTime();
      Eventually.until(
          AMPLE,
          "as long as a bucket takes for one more",
          () -> {
            assertThat(limit.tryAcquire()).isFalse();
            return System.nanoTime() - from > PERIOD.toNanos() / PERMITS * 2;
          });
    }
  }

  private static int takenInHalfAPeriod(BooleanSupplier question, int enough) {
    long from = System.nanoTime();
    int taken = 0;
    while (taken < enough && System.nanoTime() - from < PERIOD.toNanos() / 2) {
      taken += question.getAsBoolean() ? 1 : 0;
    }
    return taken;
  }
}
