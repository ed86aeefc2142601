/**
 * Distributed locks whose holds carry fencing tokens.
 *
 * <p>Start at {@link io.fenceline.Fenceline}: it connects to a store and gives out locks. An
 * acquired lock is a {@link io.fenceline.Hold}; what it can and can't promise depends on the store,
 * which says so in its {@link io.fenceline.diagnosis.Guarantees}. Relies on {@code
 * io.fenceline.spi} for the stores.
 */
@NullMarked
package io.fenceline;

import org.jspecify.annotations.NullMarked;
