/**
 * Tells listeners, observers and the log what happens to locks, so that none of them can delay or
 * break a lock. Start at {@code Events}; each listener, and the log, has a {@code SerialQueue} of
 * its own. Relies on {@code event} and {@code metrics}. Not part of the API.
 */
@NullMarked
package io.fenceline.runtime.notice;

import org.jspecify.annotations.NullMarked;
