/**
 * Exact observation of a client, for meters and traces.
 *
 * <p>Start at {@link io.fenceline.metrics.LockObserver}. Unlike {@link
 * io.fenceline.event.LockListener}, an observer is called inline, on the thread on which something
 * happens, and misses nothing. {@code fenceline-micrometer} is built on it.
 */
@NullMarked
package io.fenceline.metrics;

import org.jspecify.annotations.NullMarked;
