/**
 * Meters and observations of locks, for Micrometer.
 *
 * <p>Start at {@link io.fenceline.micrometer.FencelineMetrics} for meters and at {@link
 * io.fenceline.micrometer.FencelineObservations} for traces. Both are observers of the core ({@link
 * io.fenceline.metrics.LockObserver}), so they count inline and miss nothing.
 */
@NullMarked
package io.fenceline.micrometer;

import org.jspecify.annotations.NullMarked;
