package io.fenceline.spi;

import java.time.Duration;

/**
 * A grant to give back.
 *
 * @param grant the grant, with its owner
 * @param keepClosed how long the name stays closed from now on; zero to open it at once
 */
public record ReleaseRequest(HeldGrant grant, Duration keepClosed) {}
