/**
 * The client: everything between the API and a store.
 *
 * <p>Start at {@link io.fenceline.runtime.ClientBuilder}. An acquire enters a {@code ClaimQueue},
 * which sends at most one {@code RemoteClaim} at a time; its grant becomes a {@code
 * GrantLifecycle}, which the {@code Renewer} keeps alive, and on which one {@code CallerHold} after
 * another is held by way of {@code Handle}s. {@code UnknownOutcomes} withdraws claims and repeats
 * releases whose outcome is unknown.
 *
 * <p>The classes by role; all but the builder are package-private, since they share monitors:
 *
 * <ul>
 *   <li>locks that callers use: {@code …Lock}, {@code …Locks}, {@code AbstractAcquirable}
 *   <li>holds that callers get: {@code …Handle}, {@code CallerHold}, {@code Loss…}, {@code
 *       LostFuture}
 *   <li>waiting in this process: {@code ClaimQueue}, {@code Queues}, {@code Waiter}, {@code Retr…},
 *       {@code SelfWait}
 *   <li>grants of the store: {@code RemoteClaim}, {@code GrantLifecycle}, {@code LeaseTimes},
 *       {@code Renewer}, {@code UnknownOutcomes}
 *   <li>what is told: {@code Events}, {@code …Queue} of listeners and log lines, {@code Observers}
 *       and {@code …Observation}
 *   <li>the client itself: {@code Client…}, {@code Engine}, {@code Stores}, {@code SystemTime},
 *       {@code Workers}
 * </ul>
 *
 * <p>Locks are taken in the order queue, grant, renewer, and never while user code or a store runs.
 */
@NullMarked
package io.fenceline.runtime;

import org.jspecify.annotations.NullMarked;
