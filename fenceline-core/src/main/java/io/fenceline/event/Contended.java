package io.fenceline.event;

import org.jspecify.annotations.Nullable;

/**
 * An acquire has to wait, since the lock is held.
 *
 * @param name the lock
 * @param localWaiters how many callers of this client wait for it
 * @param holder label of a holder, if known
 */
public record Contended(String name, int localWaiters, @Nullable String holder)
    implements LockEvent {}
