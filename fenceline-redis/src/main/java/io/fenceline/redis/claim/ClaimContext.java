package io.fenceline.redis.claim;

import io.fenceline.spi.StoreContext;

/** What the claims of a store share. */
public record ClaimContext(
    StoreContext store, FastPath fastPath, ClaimRequests requests, Claims claims) {}
