/**
 * A fixed number of locks for any number of keys.
 *
 * <p>Start at {@link io.fenceline.recipes.striped.StripedLocks}. Relies on {@code io.fenceline},
 * and on any of its stores that has semaphores.
 */
@NullMarked
package io.fenceline.recipes.striped;

import org.jspecify.annotations.NullMarked;
