package io.fenceline.event;

import java.time.Duration;

/**
 * A renewal failed; it is tried again until the lease ends.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param remaining how long the hold is still valid
 * @param cause what the store said, or that it said nothing
 */
public record Endangered(String name, String id, long token, Duration remaining, String cause)
    implements LockEvent {}
