/**
 * How the contract reaches a store: where clients connect, and how time passes there.
 *
 * <p>Start at {@link io.fenceline.testkit.harness.StoreHarness}, which makes a harness on manual
 * time or on a real server. {@link io.fenceline.testkit.harness.SlowNetwork} is what a proxy in
 * front of a server can do for the contract.
 */
@NullMarked
package io.fenceline.testkit.harness;

import org.jspecify.annotations.NullMarked;
