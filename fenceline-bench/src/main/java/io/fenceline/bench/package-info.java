/**
 * Benchmarks: Fenceline, its peers and the bare requests, on the same servers in one run.
 *
 * <p>Start at {@link io.fenceline.bench.Bench}. What is measured is in {@code contender}, where in
 * {@code store}, how in {@code work}, and what is said of it in {@code report}.
 */
@NullMarked
package io.fenceline.bench;

import org.jspecify.annotations.NullMarked;
