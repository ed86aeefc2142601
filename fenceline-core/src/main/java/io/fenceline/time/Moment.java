package io.fenceline.time;

/**
 * An instant by both local clocks.
 *
 * <p>A lease is counted on the monotonic clock, which no operator can set. That clock stands still
 * while a machine is suspended, so the wall clock is read, too: a lease is over when either of them
 * says so.
 *
 * @param nanos monotonic, comparable only within one process
 * @param wallMillis milliseconds since 1970 by the wall clock
 */
public record Moment(long nanos, long wallMillis) {}
