/**
 * The interface that a store implements, and what it gets to do so.
 *
 * <p>Start at {@link io.fenceline.spi.LockStore}. A store knows nothing of threads, re-entry,
 * renewal schedules or listeners: it is asked for claims, renewals and releases, and answers. It
 * takes its time, its timers and its randomness from {@link io.fenceline.spi.StoreContext}, so that
 * tests and the simulator can own them. It is found by {@link io.fenceline.spi.StoreProvider}.
 */
@NullMarked
package io.fenceline.spi;

import org.jspecify.annotations.NullMarked;
