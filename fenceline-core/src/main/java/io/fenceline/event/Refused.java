package io.fenceline.event;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A try found the lock held, and did not wait.
 *
 * @param name the lock
 * @param holder label of a holder, if known
 * @param roundTrip how long the answer took; zero if this client knew it without a request
 */
public record Refused(String name, @Nullable String holder, Duration roundTrip)
    implements LockEvent {}
