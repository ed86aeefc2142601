package io.fenceline.event;

import java.time.Duration;

/**
 * A lock was acquired by a grant of the store.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param lease the length of its lease
 * @param waited from the call to the acquisition
 * @param roundTrip from when the request was sent (the start of the lease) to the reply
 */
public record Acquired(
    String name, String id, long token, Duration lease, Duration waited, Duration roundTrip)
    implements LockEvent {}
