/**
 * What is measured: Fenceline, its peers, the bare requests, and the locks of one process.
 *
 * <p>Start at {@link io.fenceline.bench.contender.Entrants}, which lists them by store. Each is
 * used as its own documentation says, with its defaults where they are sensible; what was set is
 * said in the class.
 */
@NullMarked
package io.fenceline.bench.contender;

import org.jspecify.annotations.NullMarked;
