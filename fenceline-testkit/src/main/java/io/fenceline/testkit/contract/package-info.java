/**
 * What every store must do, as tests.
 *
 * <p>Start at {@link io.fenceline.testkit.contract.LockContract}: a store joins by extending it
 * with a {@link io.fenceline.testkit.harness.StoreHarness}. Each group of behaviours is a class of
 * its own, {@code …Behaviour}; what they share is in {@link
 * io.fenceline.testkit.scenario.Scenario}. Faults come from {@link
 * io.fenceline.testkit.fault.LossyStore}, which can be put over any store. Relies on the public
 * API, and on the SPI where the API protects itself from what a store might do.
 */
@NullMarked
package io.fenceline.testkit.contract;

import org.jspecify.annotations.NullMarked;
