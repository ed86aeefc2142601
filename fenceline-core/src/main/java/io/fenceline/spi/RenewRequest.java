package io.fenceline.spi;

import java.time.Duration;

/**
 * A lease to start again.
 *
 * @param grant the grant, with its owner and lock-delay
 * @param lease how long the new lease is
 */
public record RenewRequest(HeldGrant grant, Duration lease) {}
