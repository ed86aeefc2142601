/**
 * Where it is measured: real servers of this machine, and what they say of their work.
 *
 * <p>Start at {@link io.fenceline.bench.store.Venue}.
 */
@NullMarked
package io.fenceline.bench.store;

import org.jspecify.annotations.NullMarked;
