/**
 * A fleet of clients on the real runtime, a server, and a network that fails, in one thread.
 *
 * <p>Start at {@link io.fenceline.testkit.sim.Simulation}. One seed gives a {@link
 * io.fenceline.testkit.sim.Script} of what people and faults do; a {@link
 * io.fenceline.testkit.sim.Run} plays it in a {@link io.fenceline.testkit.sim.World} of virtual
 * time. {@link io.fenceline.testkit.sim.History} watches the server and {@link
 * io.fenceline.testkit.sim.Beliefs} the clients, after every step and from outside. A seed that
 * fails is shrunk, and printed as a timeline.
 */
@NullMarked
package io.fenceline.testkit.sim;

import org.jspecify.annotations.NullMarked;
