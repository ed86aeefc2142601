package io.fenceline.zookeeper;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Renews holds: a hold goes on if its node is still there and its session is known to live.
 *
 * <p>The heartbeats tell of the session. Whether the nodes are there is read: by one listing for
 * all while the session has few, by asking for those that are to be renewed when it has many.
 */
final class Renewals {
  private static final int LISTING_SHARE = 4;

  private final ZooKeeperLockStore store;
  private final Ephemerals ephemerals;

  Renewals(ZooKeeperLockStore store, Ephemerals ephemerals) {
    this.store = store;
    this.ephemerals = ephemerals;
  }

  List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    Session session = store.sessions.current();
    proveMore(session, requests);
    return ephemerals.areFew() ? byListing(session, requests) : byName(session, requests);
  }

  /** A session of which little is left is asked now, and not at its next turn. */
  private void proveMore(Session session, List<RenewRequest> requests) {
    Moment now = store.context.time().now();
    long remaining = session.remainingNanos(now);
    boolean little =
        requests.stream().anyMatch(request -> remaining < request.lease().toNanos() / 2);
    if (little && session.nanosToNextProof() == 0) {
      store.heartbeat.send(session);
    }
  }

  private List<CompletableFuture<Renewal>> byListing(Session session, List<RenewRequest> requests) {
    Moment sent = store.context.time().now();
    long shortest = Long.MAX_VALUE;
    for (RenewRequest request : requests) {
      shortest = Math.min(shortest, request.lease().toNanos());
    }
    CompletableFuture<Ephemerals.Listing> listing =
        ephemerals.list(session, shortest / LISTING_SHARE);
    List<CompletableFuture<Renewal>> answers = new ArrayList<>(requests.size());
    for (RenewRequest request : requests) {
      Claim claim = store.claims.find(request.grant().claim());
      if (claim == null || !claim.possession.isOn(session)) {
        answers.add(CompletableFuture.completedFuture(Renewal.GONE));
      } else {
        answers.add(
            listing.thenApply(
                found -> renewal(session, claim, found.shows(claim), sent, request.lease())));
      }
    }
    return answers;
  }

  private List<CompletableFuture<Renewal>> byName(Session session, List<RenewRequest> requests) {
    RollCall call = new RollCall(store, session);
    List<CompletableFuture<Renewal>> answers = new ArrayList<>(requests.size());
    for (RenewRequest request : requests) {
      Claim claim = store.claims.find(request.grant().claim());
      RollCall.Entry entry = claim == null ? null : claim.possession.entryOn(session);
      if (claim == null || entry == null) {
        answers.add(CompletableFuture.completedFuture(Renewal.GONE));
      } else {
        answers.add(
            call.add(entry)
                .thenApply(
                    heard ->
                        renewal(session, claim, heard.isThere(), heard.sent(), request.lease())));
      }
    }
    call.begin();
    return answers;
  }

  private Renewal renewal(
      Session session, Claim claim, boolean isThere, Moment sent, Duration lease) {
    if (!isThere || !claim.possession.isOn(session)) {
      boolean unused = claim.vanish();
      return Renewal.GONE;
    }
    if (session.remainingNanos(store.context.time().now()) < store.leastNanos(session, lease)) {
      // Reads are answered by a server that is cut off from the others, too.
      throw new StoreUnavailableException(
          store.description(), "The heartbeats are not answered", null);
    }
    return new Renewal.Renewed(session.validity(sent, lease));
  }
}
