package io.fenceline.event;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A lock is still held after {@link io.fenceline.LockOptions#warnAfter}; reported once for each
 * hold.
 *
 * @param name the lock
 * @param id the hold
 * @param token its token
 * @param since when it was acquired
 * @param held for how long it has been held
 * @param thread name of the thread that acquired it
 * @param acquiredAt where it was acquired, with {@link io.fenceline.LockOptions#leakTrace}
 */
public record HeldTooLong(
    String name,
    String id,
    long token,
    Instant since,
    Duration held,
    String thread,
    @Nullable Throwable acquiredAt)
    implements LockEvent {}
