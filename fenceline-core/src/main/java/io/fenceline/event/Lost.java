package io.fenceline.event;

import java.time.Duration;

/**
 * A hold is no longer valid; another process may hold the lock.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param reason why
 * @param sinceRenewal the time between the last renewal and the loss
 * @param lease the length of the lease
 */
public record Lost(
    String name, String id, long token, LossReason reason, Duration sinceRenewal, Duration lease)
    implements LockEvent {}
