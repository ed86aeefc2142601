/**
 * Locks in memory: within one process, for tests, and as the model of a store.
 *
 * <p>Start at {@link io.fenceline.memory.MemoryStore}. {@link io.fenceline.memory.LockTable} is
 * what a server does: a table of names that knows nothing of clients but their owners, has a clock
 * handed in, and decides everything that the other stores decide in a script or a statement. The
 * simulator puts the same table behind a network that fails.
 */
@NullMarked
package io.fenceline.memory;

import org.jspecify.annotations.NullMarked;
