package io.fenceline.event;

import java.time.Duration;

/**
 * A caller gave up waiting.
 *
 * @param name the lock
 * @param waited how long the caller waited
 * @param storeSilent whether the store did not answer at the end
 */
public record TimedOut(String name, Duration waited, boolean storeSilent) implements LockEvent {}
