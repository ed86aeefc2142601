package io.fenceline.spi;

import io.fenceline.time.Time;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * What a client gives to the store that it opens.
 *
 * @param client how this client's holders and waiters are shown to people
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
