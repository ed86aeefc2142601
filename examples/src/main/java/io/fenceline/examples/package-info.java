/**
 * One small program per question; start with {@link io.fenceline.examples.Walkthrough}.
 *
 * <p>They need no server: locks and data are in SQLite files of a temporary folder. Those about
 * pauses start other processes and stop them by SIGSTOP.
 */
@NullMarked
package io.fenceline.examples;

import org.jspecify.annotations.NullMarked;
