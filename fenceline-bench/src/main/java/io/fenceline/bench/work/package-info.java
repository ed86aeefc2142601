/**
 * How it is measured: works, each in rounds that go through all contenders again and again.
 *
 * <p>Start at {@link io.fenceline.bench.work.Rates}. Every work checks while it measures that
 * nobody else was inside, and that tokens rise ({@link io.fenceline.bench.work.Guarded}).
 */
@NullMarked
package io.fenceline.bench.work;

import org.jspecify.annotations.NullMarked;
