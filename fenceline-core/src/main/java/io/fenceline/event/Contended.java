package io.fenceline.event;

import org.jspecify.annotations.Nullable;

/**
 * A claim has to wait.
 *
 * @param name the lock
 * @param localWaiters how many callers of this client wait for it
 * @param holder label of a holder, where known
 */
public record Contended(String name, int localWaiters, @Nullable String holder)
    implements LockEvent {}
