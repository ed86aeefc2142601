package io.fenceline.event;

import java.time.Duration;

/**
 * A lock passed from one thread of this process to another, without a round trip.
 *
 * @param name the lock
 * @param id the new hold
 * @param token its token
 * @param lease the length of its lease
 * @param handOff the number of the hand-off since the grant, from 1
 * @param waited from the call to the acquisition
 */
public record HandedOff(
    String name, String id, long token, Duration lease, int handOff, Duration waited)
    implements LockEvent {}
