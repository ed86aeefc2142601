package io.fenceline.redis.redlock;

import java.time.Duration;

/**
 * What one node said, for an error.
 *
 * @param address of the node
 * @param answer its answer, in words, or why there is none
 * @param took how long that took
 */
public record NodeReport(String address, String answer, Duration took) {}
