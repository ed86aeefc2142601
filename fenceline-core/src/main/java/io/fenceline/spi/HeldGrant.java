package io.fenceline.spi;

/**
 * A grant together with the claim that it answered: what renewals and releases name.
 *
 * @param claim the claim, with the owner
 * @param number the grant number
 */
public record HeldGrant(ClaimRequest claim, long number) {}
