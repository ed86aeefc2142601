/**
 * The client: everything between the API and a store.
 *
 * <p>Start at {@link io.fenceline.runtime.ClientBuilder}. An acquire enters a {@code ClaimQueue},
 * which sends at most one {@code RemoteClaim} at a time; its grant becomes a {@code ClientGrant},
 * which the {@code Renewer} keeps alive, and on which one {@code HoldState} after another is held
 * by way of {@code Handle}s. What may have been left at the store is cleaned up by the {@code
 * Undoer}.
 *
 * <p>Locks are taken in the order queue, grant, renewer, and never while user code or a store runs.
 */
@NullMarked
package io.fenceline.runtime;

import org.jspecify.annotations.NullMarked;
