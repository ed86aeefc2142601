package io.fenceline.recipes.ratelimit;

import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.time.Time;
import java.time.Duration;

/**
 * Where permits are counted, and by whose clock: {@link MemoryRates}, {@link RedisRates} or {@link
 * SqlRates}.
 *
 * <p>Thread-safe.
 */
public abstract class RateStore {
  /*
   * One request, take. What if it
   *
   * - arrives late, after its sender has given up: the permits are taken and nobody uses them. They
   *   are missing until they leave the window; the limit still holds.
   * - arrives twice, since a driver repeats it: the same.
   * - is answered, and the answer is lost: the same. So it is never repeated here.
   *
   * All of that errs on the side of the limit, and heals within a period. Permits are not given
   * back: by then somebody may have been told to wait for them.
   */

  RateStore() {}

  /** Names this store in messages. */
  abstract String kind();

  /**
   * Takes permits, if they can be used within the wait.
   *
   * @param longestWaitMicros 0 for now or never; -1 to take nothing and learn how long it would be
   * @param time of the client; only a store without a server lives by it
   * @throws InvalidSettingException if the name is in use for a limit of another kind or period
   */
  abstract Answer take(
      String name, Allowance terms, int permits, long longestWaitMicros, Time time);

  /**
   * What a store says.
   *
   * @param waitMicros until the permits may be used, or could be taken
   * @param atMicros when that is, since 1970 by the clock of the store
   */
  record Answer(boolean taken, long waitMicros, long atMicros) {}

  static InvalidSettingException otherUse(
      String name, Allowance terms, int kind, long periodMicros) {
    return new InvalidSettingException(
        "period",
        Durations.show(Duration.ofNanos(terms.periodMicros() * 1_000)),
        "rate limit '%s' is in use with another kind or period (asked=%s, inUse=%s)"
            .formatted(
                name,
                Allowance.show(terms.kind(), terms.periodMicros()),
                Allowance.show(kind, periodMicros)));
  }
}
