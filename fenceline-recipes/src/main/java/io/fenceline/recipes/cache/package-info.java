/**
 * A cache whose values are loaded once for all threads of all processes.
 *
 * <p>Start at {@link io.fenceline.recipes.cache.LoadOnceCache}. The local tier is Caffeine; a
 * {@link io.fenceline.recipes.cache.SharedTier}, in Redis, is optional. Relies on {@code
 * io.fenceline}, and on any of its stores for the locks.
 */
@NullMarked
package io.fenceline.recipes.cache;

import org.jspecify.annotations.NullMarked;
