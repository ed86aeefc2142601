package io.fenceline.spi;

/**
 * A grant and its claim, as renewals and releases name them.
 *
 * @param claim the claim, with the owner
 * @param number the grant number
 */
public record HeldGrant(ClaimRequest claim, long number) {}
