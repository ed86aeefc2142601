package io.fenceline.event;

import java.time.Duration;

/**
 * A lock was acquired by a grant of the store.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param lease how long its lease is
 * @param waited from the call to the hold
 * @param roundTrip from the sending that the lease counts from to the answer
 */
public record Acquired(
    String name, String id, long token, Duration lease, Duration waited, Duration roundTrip)
    implements LockEvent {}
