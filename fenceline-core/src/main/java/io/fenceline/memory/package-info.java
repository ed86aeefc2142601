/**
 * Locks in memory: within one process, for tests, and as the model of a store.
 *
 * <p>Start at {@link io.fenceline.memory.MemoryStore}. {@link io.fenceline.memory.LockTable} plays
 * the server: a table of names that knows clients only by their owners, gets its clock from
 * outside, and makes all decisions that other stores make in a script or a statement. The simulator
 * puts the same table behind a network that fails.
 */
@NullMarked
package io.fenceline.memory;

import org.jspecify.annotations.NullMarked;
