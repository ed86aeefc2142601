/**
 * Checks that grants are still there, and removes nodes that were left behind. Start at {@code
 * Renewals}; {@code SessionNodes} and {@code Sweeper} find nodes that nobody knows of, and {@code
 * NodeCleanup} removes those of a closed store. Relies on {@code claim}. Not part of the API.
 */
@NullMarked
package io.fenceline.zookeeper.renewal;

import org.jspecify.annotations.NullMarked;
