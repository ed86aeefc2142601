/**
 * Distributed locks whose holds carry fencing tokens.
 *
 * <p>Start at {@link io.fenceline.Fenceline}: it connects to a store and creates locks. An acquired
 * lock is a {@link io.fenceline.Hold}; what it guarantees depends on the store, see {@link
 * io.fenceline.diagnosis.Guarantees}. Relies on {@code io.fenceline.spi} for the stores.
 */
@NullMarked
package io.fenceline;

import org.jspecify.annotations.NullMarked;
