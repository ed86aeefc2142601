/**
 * Faults between a client and its store, in the same process and when the test says so.
 *
 * <p>Start at {@link io.fenceline.testkit.fault.LossyStore}, which can be put over any store.
 */
@NullMarked
package io.fenceline.testkit.fault;

import org.jspecify.annotations.NullMarked;
