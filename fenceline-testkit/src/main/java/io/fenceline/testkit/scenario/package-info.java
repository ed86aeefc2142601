/**
 * What the tests of the contract are made of: processes, threads, names, and time that passes.
 *
 * <p>Start at {@link io.fenceline.testkit.scenario.Scenario}. A {@link
 * io.fenceline.testkit.scenario.Peer} is a process, a {@link io.fenceline.testkit.scenario.Blocked}
 * a thread. {@link io.fenceline.testkit.scenario.StallDetector} tells how long this JVM did not
 * run, so that a test can tell a defect from a busy machine.
 */
@NullMarked
package io.fenceline.testkit.scenario;

import org.jspecify.annotations.NullMarked;
