package io.fenceline.spi;

import io.fenceline.time.Moment;
import java.time.Duration;

/**
 * From when, and for how long, a lease may be believed.
 *
 * <p>It counts from a moment before a request was sent that is known to have run at the server no
 * later than the lease started there:
 *
 * <ul>
 *   <li>for a claim or a renewal that was answered, that request;
 *   <li>for a grant learnt from a message, our last request that was answered with "waiting";
 *   <li>where the lease is a session's, the sending of the session's last answered renewal.
 * </ul>
 *
 * <p>The answer's arrival is never used: the answer may have been under way for longer than the
 * lease.
 *
 * @param from before the sending of that request
 * @param length how long the store keeps the grant from then on, without any lock-delay
 */
public record Validity(Moment from, Duration length) {}
