package io.fenceline.event;

import java.time.Duration;

/**
 * A lease was renewed.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param remaining how long the lease now runs
 * @param roundTrip how long the answer took
 */
public record Renewed(String name, String id, long token, Duration remaining, Duration roundTrip)
    implements LockEvent {}
