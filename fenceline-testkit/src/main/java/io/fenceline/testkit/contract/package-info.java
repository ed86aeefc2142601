/**
 * What every store must do, as tests.
 *
 * <p>Start at {@link io.fenceline.testkit.contract.LockContract}: a store joins by extending it
 * with a {@link io.fenceline.testkit.contract.StoreHarness}. Each group of behaviours is a class of
 * its own, {@code …Behaviour}; what they share is in {@code Scenario}. Faults come from {@link
 * io.fenceline.testkit.contract.LossyStore}, which can be put over any store. Relies on the public
 * API, and on the SPI where the API protects itself from what a store might do.
 */
@NullMarked
package io.fenceline.testkit.contract;

import org.jspecify.annotations.NullMarked;
