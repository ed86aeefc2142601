package io.fenceline.event;

import java.time.Duration;

/**
 * A caller gave up waiting.
 *
 * @param name the lock
 * @param waited for how long
 * @param storeSilent whether the store gave no answer in the end
 */
public record TimedOut(String name, Duration waited, boolean storeSilent) implements LockEvent {}
