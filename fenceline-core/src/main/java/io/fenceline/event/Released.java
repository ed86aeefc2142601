package io.fenceline.event;

import io.fenceline.ReleaseOutcome;
import java.time.Duration;

/**
 * A hold ended by release.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param lease the length of its lease
 * @param outcome what the store answered
 * @param held how long it was held
 * @param roundTrip how long the answer took; zero if the lock was handed on locally
 */
public record Released(
    String name,
    String id,
    long token,
    Duration lease,
    ReleaseOutcome outcome,
    Duration held,
    Duration roundTrip)
    implements LockEvent {}
