/**
 * Work that has its effect once for each key, although it is asked for many times and its first
 * worker may die or pause.
 *
 * <p>Start at {@link io.fenceline.recipes.once.Once}. What is known of a key is in {@link
 * io.fenceline.recipes.once.OnceRecords}: in memory, in Redis, or in the database of the effect,
 * written by the same transaction. Relies on {@code io.fenceline}, and on any of its stores for the
 * locks.
 */
@NullMarked
package io.fenceline.recipes.once;

import org.jspecify.annotations.NullMarked;
