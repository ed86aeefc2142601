/**
 * A rate limit that all processes share, decided by the clock of a store.
 *
 * <p>Start at {@link io.fenceline.recipes.ratelimit.RateLimit}. Where the permits are counted is a
 * {@link io.fenceline.recipes.ratelimit.RateStore}: memory, Redis, SQLite, PostgreSQL or MariaDB;
 * each decides in one step. The rule in Java, which the scripts and statements repeat, is {@code
 * Tally}. Relies on {@code io.fenceline} for time only.
 */
@NullMarked
package io.fenceline.recipes.ratelimit;

import org.jspecify.annotations.NullMarked;
