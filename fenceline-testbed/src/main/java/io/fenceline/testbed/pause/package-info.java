/**
 * A machine that does not give a test the time it counts on, made on purpose.
 *
 * <p>{@link io.fenceline.testbed.pause.RandomPauses} stops this JVM now and then, so that a test
 * that relies on being fast is found.
 */
@NullMarked
package io.fenceline.testbed.pause;

import org.jspecify.annotations.NullMarked;
