package io.fenceline.spi;

/**
 * A store's answer: the name is yours.
 *
 * @param number the grant number, larger than that of every earlier conflicting grant of the name
 * @param validity how long the grant can be believed without renewal
 */
public record Grant(long number, Validity validity) {}
