/**
 * Clocks, timers and threads, as they are handed to the runtime and the stores. Depends on nothing
 * else.
 */
@NullMarked
package io.fenceline.time;

import org.jspecify.annotations.NullMarked;
