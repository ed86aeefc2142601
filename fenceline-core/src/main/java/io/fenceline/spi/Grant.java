package io.fenceline.spi;

/**
 * What a store gives to a claim that it grants.
 *
 * @param number the grant number, larger than that of every earlier conflicting grant of the name
 * @param validity from when, and for how long, the grant may be believed without renewal
 */
public record Grant(long number, Validity validity) {}
