package io.fenceline.event;

/**
 * A request to the store failed or was not answered.
 *
 * @param name the lock
 * @param operation claim, renew, release or withdraw
 * @param cause what went wrong
 */
public record StoreFailed(String name, String operation, Throwable cause) implements LockEvent {}
