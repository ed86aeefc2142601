package io.fenceline.spi;

import java.time.Duration;

/**
 * A lease to renew. A renewal never makes a lease end sooner at the store, since an older request
 * may arrive after a newer one. A holder that asks for a shorter lease believes in the shorter one,
 * and that is enough.
 *
 * @param grant the grant, with its owner and lock-delay
 * @param lease how long the new lease is
 */
public record RenewRequest(HeldGrant grant, Duration lease) {}
