package io.fenceline.spi;

import io.fenceline.time.Time;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * What a store is given by the client that opens it.
 *
 * @param client who the holders and waiters of this client are
 * @param time clocks, timers and threads
 * @param random for jitter
 * @param connectTimeout how long opening the store may take
 * @param operationTimeout how long one request may go unanswered
 */
public record StoreContext(
    ClientInfo client,
    Time time,
    RandomGenerator random,
    Duration connectTimeout,
    Duration operationTimeout) {}
