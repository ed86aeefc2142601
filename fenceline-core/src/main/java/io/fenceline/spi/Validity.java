package io.fenceline.spi;

import io.fenceline.time.Moment;
import java.time.Duration;

/**
 * From when, and for how long, a lease may be believed.
 *
 * <p>It counts from a moment before a request was sent; that request is known to have run at the
 * server no later than the lease started there:
 *
 * <ul>
 *   <li>for a claim or a renewal that was answered, that request;
 *   <li>for a grant that a message told of, the last request that was answered with "waiting";
 *   <li>for the lease of a session, the session's last answered keep-alive.
 * </ul>
 *
 * <p>It never counts from when the answer arrived: the answer may have been under way for longer
 * than the lease.
 *
 * @param from a moment before that request was sent
 * @param length how long the store keeps the grant from then on, without any lock-delay
 */
public record Validity(Moment from, Duration length) {}
