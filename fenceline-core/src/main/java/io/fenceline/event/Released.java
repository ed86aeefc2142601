package io.fenceline.event;

import io.fenceline.ReleaseOutcome;
import java.time.Duration;

/**
 * A hold ended by release.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param lease how long its lease was
 * @param outcome what the store answered
 * @param held for how long
 * @param roundTrip how long the answer took; zero where it was handed on locally
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
