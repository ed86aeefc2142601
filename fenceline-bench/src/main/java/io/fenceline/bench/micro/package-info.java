/**
 * What single calls cost, measured by JMH: CPU time and allocation.
 *
 * <p>Start at {@link io.fenceline.bench.micro.Micro}; see {@code ./bench --help}.
 */
@NullMarked
package io.fenceline.bench.micro;

import org.jspecify.annotations.NullMarked;
