/**
 * A machine that does not give a test the time it counts on: made on purpose, and noticed.
 *
 * <p>{@link io.fenceline.testkit.pause.RandomPauses} stops this JVM now and then, so that a test
 * that relies on being fast is found. {@link io.fenceline.testkit.pause.StallDetector} tells how
 * long this JVM did not run, so that a test can tell a defect from a busy machine.
 */
@NullMarked
package io.fenceline.testkit.pause;

import org.jspecify.annotations.NullMarked;
