/**
 * What a client tells those who count: meters, traces, anything whose figures must be exact.
 *
 * <p>Start at {@link io.fenceline.metrics.LockObserver}. Unlike {@link
 * io.fenceline.event.LockListener}, it is called inline, where the thing happens, and misses
 * nothing. {@code fenceline-micrometer} is built on it.
 */
@NullMarked
package io.fenceline.metrics;

import org.jspecify.annotations.NullMarked;
