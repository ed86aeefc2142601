package io.fenceline.event;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A try found the lock held, and did not wait.
 *
 * @param name the lock
 * @param holder label of a holder, where known
 * @param roundTrip how long the answer took; zero where this client knew by itself
 */
public record Refused(String name, @Nullable String holder, Duration roundTrip)
    implements LockEvent {}
