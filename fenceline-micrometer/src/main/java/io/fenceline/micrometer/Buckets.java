package io.fenceline.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** See {@link FencelineMetrics#buckets()}. */
final class Buckets implements MeterFilter {
  private static final DistributionStatisticConfig WAITS =
      millis(1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 30_000, 60_000);
  private static final DistributionStatisticConfig HOLDS =
      millis(1, 10, 100, 500, 1_000, 5_000, 30_000, 60_000, 300_000, 900_000);
  private static final DistributionStatisticConfig REQUESTS =
      millis(1, 2, 5, 10, 20, 50, 100, 250, 500, 1_000, 3_000);

  private static DistributionStatisticConfig millis(long... bounds) {
    double[] nanos =
        Arrays.stream(bounds).mapToDouble(ms -> Duration.ofMillis(ms).toNanos()).toArray();
    return DistributionStatisticConfig.builder().serviceLevelObjectives(nanos).build();
  }

  /** What an observation makes of itself has an error as a tag, or no store. */
  @Override
  public MeterFilterReply accept(Meter.Id id) {
    boolean observed =
        switch (id.getName()) {
          case "fenceline.acquire", "fenceline.hold" -> id.getTag("error") != null;
          case "fenceline.acquire.active", "fenceline.hold.active" -> id.getTag("store") == null;
          default -> false;
        };
    return observed ? MeterFilterReply.DENY : MeterFilterReply.NEUTRAL;
  }

  @Override
  public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
    DistributionStatisticConfig ours = bucketsOf(id);
    return ours == null || config.getServiceLevelObjectiveBoundaries() != null
        ? config
        : ours.merge(config);
  }

  private static @Nullable DistributionStatisticConfig bucketsOf(Meter.Id id) {
    if (id.getType() != Meter.Type.TIMER) {
      return null;
    }
    return switch (id.getName()) {
      case "fenceline.acquire" -> WAITS;
      case "fenceline.hold" -> HOLDS;
      case "fenceline.renew", "fenceline.store.request" -> REQUESTS;
      default -> null;
    };
  }
}
