package io.fenceline.zookeeper.renewal;

import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.time.Moment;
import io.fenceline.zookeeper.claim.Claim;
import io.fenceline.zookeeper.claim.ClaimContext;
import io.fenceline.zookeeper.session.Session;
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
public final class Renewals {
  private static final int LISTING_SHARE = 4;

  private final ClaimContext context;
  private final SessionNodes nodes;

  public Renewals(ClaimContext context, SessionNodes nodes) {
    this.context = context;
    this.nodes = nodes;
  }

  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    Session session = context.sessions().current();
    proveMore(session, requests);
    return nodes.areFew() ? byListing(session, requests) : byName(session, requests);
  }

  /** A session of which little is left is asked now, and not at its next turn. */
  private void proveMore(Session session, List<RenewRequest> requests) {
    Moment now = context.store().time().now();
    long remaining = session.remainingNanos(now);
    boolean little =
        requests.stream().anyMatch(request -> remaining < request.lease().toNanos() / 2);
    if (little && session.nanosToNextProof() == 0) {
      context.heartbeat().send(session);
    }
  }

  private List<CompletableFuture<Renewal>> byListing(Session session, List<RenewRequest> requests) {
    Moment sent = context.store().time().now();
    long shortest = Long.MAX_VALUE;
    for (RenewRequest request : requests) {
      shortest = Math.min(shortest, request.lease().toNanos());
    }
    CompletableFuture<SessionNodes.Listing> listing = nodes.list(session, shortest / LISTING_SHARE);
    List<CompletableFuture<Renewal>> answers = new ArrayList<>(requests.size());
    for (RenewRequest request : requests) {
      Claim claim = context.claims().find(request.grant().claim());
      if (claim == null || !claim.isGrantedOn(session)) {
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
    NodeChecks checks = new NodeChecks(context, session);
    List<CompletableFuture<Renewal>> answers = new ArrayList<>(requests.size());
    for (RenewRequest request : requests) {
      Claim claim = context.claims().find(request.grant().claim());
      Claim.HeldNode held = claim == null ? null : claim.heldNodeOn(session);
      if (claim == null || held == null) {
        answers.add(CompletableFuture.completedFuture(Renewal.GONE));
      } else {
        answers.add(
            checks
                .add(held)
                .thenApply(
                    heard ->
                        renewal(session, claim, heard.isThere(), heard.sent(), request.lease())));
      }
    }
    checks.begin();
    return answers;
  }

  private Renewal renewal(
      Session session, Claim claim, boolean isThere, Moment sent, Duration lease) {
    if (!isThere || !claim.isGrantedOn(session)) {
      claim.end();
      return Renewal.GONE;
    }
    if (session.remainingNanos(context.store().time().now()) < session.leastNanos(lease)) {
      // Reads are answered by a server that is cut off from the others, too.
      throw context.sessions().unavailable("The heartbeats are not answered");
    }
    return new Renewal.Renewed(session.validity(sent, lease));
  }
}
