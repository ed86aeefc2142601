package io.fenceline.spi;

import java.time.Duration;

/**
 * A lease to start again. It never ends sooner by it at the store: an older request may arrive
 * after a newer one. A holder that asks for less believes in less, and that is enough.
 *
 * @param grant the grant, with its owner and lock-delay
 * @param lease how long the new lease is
 */
public record RenewRequest(HeldGrant grant, Duration lease) {}
