package io.fenceline.redis.redlock;

import io.fenceline.settings.Durations;
import java.time.Duration;

/**
 * What one node said, for an error.
 *
 * @param address of the node
 * @param answer its answer, in words, or why there is none
 * @param took how long that took
 */
record NodeReport(String address, String answer, Duration took) {
  @Override
  public String toString() {
    return address + " " + answer + " (" + Durations.show(took) + ")";
  }
}
