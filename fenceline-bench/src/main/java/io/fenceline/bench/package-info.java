/**
 * Benchmarks: ratios between things that ran in the same minute on the same machine.
 *
 * <p>Start at {@link io.fenceline.bench.HotLock}, one lock that many threads of one process want.
 */
@NullMarked
package io.fenceline.bench;

import org.jspecify.annotations.NullMarked;
