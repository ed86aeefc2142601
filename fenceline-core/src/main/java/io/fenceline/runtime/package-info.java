/**
 * The client: everything between the API and a store.
 *
 * <p>Start at {@link io.fenceline.runtime.ClientBuilder}. An acquire enters a {@code ClaimQueue},
 * which sends at most one {@code RemoteClaim} at a time; its grant becomes a {@code
 * GrantLifecycle}, which the {@code Renewer} keeps alive, and on which one {@code CallerHold} after
 * another is held by way of {@code Handle}s. {@code UnknownOutcomes} withdraws claims and repeats
 * releases whose outcome is unknown.
 *
 * <p>What shares no monitor with these classes has packages of its own: {@code notice} tells
 * listeners, observers and the log, {@code machine} has clocks, threads and random numbers. The
 * classes here by role; all but the builder are package-private, since they share monitors:
 *
 * <ul>
 *   <li>locks that callers use: {@code …Lock}, {@code …Locks}, {@code AbstractAcquirable}
 *   <li>holds that callers get: {@code …Handle}, {@code CallerHold}, {@code Loss…}, {@code
 *       LostFuture}
 *   <li>waiting in this process: {@code ClaimQueue}, {@code ClaimQueues}, {@code Waiter}, {@code
 *       Retry…}, {@code SelfWait}
 *   <li>grants of the store: {@code RemoteClaim}, {@code GrantLifecycle}, {@code LeaseTimes},
 *       {@code Renewer}, {@code UnknownOutcomes}
 *   <li>what is reported: {@code Observers}, {@code …Observation}, {@code FlightEvents}
 *   <li>the client itself: {@code Client…}, {@code Engine}, {@code Stores}
 * </ul>
 *
 * <p>Locks are taken in the order queue, grant, renewer, and never while user code or a store runs.
 */
@NullMarked
package io.fenceline.runtime;

import org.jspecify.annotations.NullMarked;
