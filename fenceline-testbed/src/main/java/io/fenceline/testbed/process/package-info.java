/**
 * Processes that tests start: servers, JVMs and tools, each gone at the latest with this JVM.
 *
 * <p>Start at {@link io.fenceline.testbed.process.JavaProcess} for a JVM that runs a class of the
 * test, and at {@link io.fenceline.testbed.process.ServerProcess} for what all servers have in
 * common: a port that nobody else has, a fresh folder, kill, pause and restart. Relies on {@code
 * setpriv}.
 */
@NullMarked
package io.fenceline.testbed.process;

import org.jspecify.annotations.NullMarked;
