package io.fenceline.spring.boot.actuate;

import io.fenceline.Fenceline;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** Asks a store whether it answers, and how fast. For health indicators. */
public final class StoreProbe {
  /** A name that nobody locks: the question is what counts. */
  private static final String NAME = "fenceline:health";

  private final Fenceline fenceline;

  /** A probe of the store of a client. */
  public StoreProbe(Fenceline fenceline) {
    this.fenceline = fenceline;
  }

  /**
   * Asks once.
   *
   * @return what to show
   * @throws RuntimeException if the store does not answer
   */
  public Map<String, Object> ask() {
    long before = fenceline.time().nanos();
    fenceline.inspect(NAME);
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("store", fenceline.store());
    details.put("latency", Duration.ofNanos(fenceline.time().nanos() - before).toMillis() + "ms");
    return details;
  }

  /** What to show of a store that does not answer. */
  public Map<String, Object> describe() {
    return Map.of("store", fenceline.store());
  }
}
