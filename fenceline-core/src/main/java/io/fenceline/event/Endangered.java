package io.fenceline.event;

import java.time.Duration;

/**
 * A renewal failed; it is retried until the lease ends.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param remaining how long the hold is still valid
 * @param cause the answer of the store, or that there was none
 */
public record Endangered(String name, String id, long token, Duration remaining, String cause)
    implements LockEvent {}
