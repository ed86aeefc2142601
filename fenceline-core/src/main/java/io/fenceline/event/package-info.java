/**
 * Events of locks, for logs and listeners.
 *
 * <p>Start at {@link io.fenceline.event.LockListener}. Each event is a record; all have the lock's
 * name, and the hold's public id and token where there is a hold.
 */
@NullMarked
package io.fenceline.event;

import org.jspecify.annotations.NullMarked;
