/**
 * Runs a command under a lock: the part of {@code fenceline run} that has to do with processes.
 *
 * <p>Start at {@link io.fenceline.cli.run.GuardedCommand}, the command with the guard process above
 * it; {@link io.fenceline.cli.run.Supervisor} watches over it as long as the lock is held. The
 * guard itself is {@code guard.sh}, and {@code terminal.sh} where there is a terminal to hand over;
 * {@code watchdog.sh} finds and ends the processes of a run.
 */
@NullMarked
package io.fenceline.cli.run;

import org.jspecify.annotations.NullMarked;
