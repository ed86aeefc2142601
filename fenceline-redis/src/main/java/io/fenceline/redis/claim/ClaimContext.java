package io.fenceline.redis.claim;

import io.fenceline.redis.connection.Topology;
import io.fenceline.spi.StoreContext;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What the claims of a store share.
 *
 * @param seen the largest grant number of each bucket that this client has seen. It goes along with
 *     every claim, so that tokens rise though a server has lost its counter: see {@code number.lua}
 */
public record ClaimContext(
    StoreContext store,
    Topology topology,
    FastPath fastPath,
    ClaimRequests requests,
    Claims claims,
    AtomicLongArray seen) {}
