/**
 * Clocks, timers and threads, as they are handed to the runtime and the stores. Start at {@link
 * io.fenceline.time.Time}. Depends on no other package.
 */
@NullMarked
package io.fenceline.time;

import org.jspecify.annotations.NullMarked;
