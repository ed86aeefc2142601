package io.fenceline.redis.redlock;

import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.redis.connection.Connecting;
import io.fenceline.redis.connection.Driver;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.diagnostics.CrashSafety;
import io.fenceline.redis.diagnostics.Listing;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.redlock.RedlockAnswers.Ended;
import io.fenceline.redis.redlock.RedlockAnswers.Row;
import io.fenceline.settings.LeaseLimits;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Locks on independent Redis servers, of which a majority decides: Redlock, with tokens.
 *
 * <p>Start at {@link RedlockClaim}; then {@link Ballot}, which is one attempt, and {@link
 * Recovery}, which lets nodes vote again that have lost their memory. The design, its model and
 * what breaks it are in {@code docs/design/0011-redlock.md}.
 */
public final class RedlockStore implements LockStore {
  private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

  private final Nodes nodes;
  private volatile Guarantees guarantees = usualGuarantees();
  private final Driver driver;
  private final Recovery recovery;
  private final RedlockRenewals renewals;
  private final Listing listing;
  private final byte[] client;
  private final RedlockClaims claims;
  private final OwnPermits holds;
  private volatile boolean closed;

  RedlockStore(Nodes nodes, Driver driver, String channel) {
    this.nodes = nodes;
    this.driver = driver;
    this.client = Answers.client(nodes.context.client());
    this.recovery = new Recovery(nodes);
    nodes.whenFoundWithoutVote(recovery::start);
    this.holds = new OwnPermits(nodes.context.time());
    this.renewals = new RedlockRenewals(nodes, client, holds);
    this.listing = new Listing(this::names, this::inspect);
    this.claims = new RedlockClaims(nodes, holds, client, channel);
  }

  Nodes nodes() {
    return nodes;
  }

  Recovery recovery() {
    return recovery;
  }

  @Override
  public String description() {
    return nodes.description();
  }

  /** What can be said before the servers were asked. */
  public static Guarantees usualGuarantees() {
    return new Guarantees(
        "redlock",
        EnumSet.complementOf(EnumSet.of(Guarantee.LINEARIZABLE, Guarantee.FAIR)),
        Certainty.UNKNOWN,
        LeaseLimits.from(SHORTEST_LEASE),
        "a minority of the servers may forget everything; for a majority at once, "
            + CrashSafety.BY_ITS_SETTINGS,
        "locks survive the failure of any minority of the servers; one that was restarted or emptied"
            + " does not vote until the longest lease has passed. If a majority loses its memory at"
            + " once, locks may be given again, with larger tokens",
        "a clock set forward ends leases at that server early by as much; if that leaves a holder"
            + " without a majority, another one may come before it has noticed; a server that was"
            + " restarted votes early by as much; a clock set back keeps a name closed for one lease"
            + " more; tokens rise",
        "an emptied server takes over the counters of a majority; if a majority is emptied, tokens go"
            + " on from the servers' clocks and from what clients have seen");
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  /** What is promised of these very servers, once they were asked. */
  void promise(Guarantees found) {
    guarantees = found;
  }

  // Claims. -------------------------------------------------------------------------------------

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    if (closed) {
      handler.failed(closedException());
      return;
    }
    PermitSlots.check(request.mode());
    recovery.knows(request.term());
    claims.start(request, handler);
  }

  /** A node tells that a name got free. */
  void told(int node, String name) {
    claims.told(node, name);
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    if (closed) {
      return CompletableFuture.failedFuture(closedException());
    }
    Owner owner = request.owner();
    claims.stop(owner);
    long away = holds.end(owner) ? request.term().toMillis() : 0;
    holds.ended(owner); // A withdrawal does not name permits, also if it is repeated.
    return nodes
        .round(
            Purpose.CLAIMS,
            Script.REDLOCK_END,
            RedlockLayout.keys(request.name()),
            run -> RedlockRequest.withdrawal(owner.bytes(), RedlockRequest.HELD, away),
            Ended::parse)
        .within(nodes.patienceNanos(), this::hasMajority, nodes.longPatienceNanos())
        .thenAccept(
            round -> {
              if (!hasMajority(round)) {
                throw nodes.failure(
                    "The withdrawal of lock '" + request.name() + "'",
                    round.describe(answer -> "did it"));
              }
            });
  }

  private boolean hasMajority(Round<?> round) {
    return round.answered() >= nodes.majority;
  }

  // OwnPermits.
  // --------------------------------------------------------------------------------------

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    for (RenewRequest request : requests) {
      ClaimRequest claim = request.grant().claim();
      Duration term = request.lease().plus(claim.delay());
      recovery.knows(term);
    }
    return renewals.renew(requests);
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    ClaimRequest claim = request.grant().claim();
    recovery.knows(request.keepClosed());
    long keep = request.keepClosed().toMillis();
    PermitSlots slots = holds.slots(claim.owner());
    long away = holds.end(claim.owner()) ? claim.term().toMillis() : 0;
    byte[] owner = claim.owner().bytes();
    long number = request.grant().number();
    return end(
            claim.name(),
            RedlockRequest.release(owner, keep, away, number),
            // A name that is to stay closed is worth waiting for one node that knows it.
            round -> isClear(round) && (keep == 0 || round.count(Ended::done) > 0))
        .thenCompose(
            round -> {
              int done = round.count(Ended::done);
              // From now on: what is answered late must not close a name that has opened since.
              long left = keep - millisSince(round.sent());
              if (left <= 0 || done == 0) {
                return CompletableFuture.completedFuture(released(claim.name(), round));
              }
              // A node that has closed it may lose its memory before a majority knows for how long.
              RedlockRequest held = RedlockRequest.of(claim, slots, RedlockRequest.HELD);
              return end(claim.name(), held.closing(left, number, client))
                  .thenApply(
                      closed ->
                          done >= nodes.majority
                              ? Release.RELEASED
                              : released(claim.name(), closed));
            })
        .whenComplete(
            (release, failure) -> {
              if (failure == null) {
                holds.ended(claim.owner());
              }
            });
  }

  /** By the clock that has gone further: the monotonic one stands still while a machine sleeps. */
  private long millisSince(Moment start) {
    Moment now = nodes.context.time().now();
    long millis = TimeUnit.NANOSECONDS.toMillis(now.nanos() - start.nanos());
    return Math.max(millis, now.wallMillis() - start.wallMillis());
  }

  private Release released(String name, Round<Ended> round) {
    if (round.count(Ended::done) >= nodes.majority) {
      return Release.RELEASED;
    }
    if (round.count(ended -> !ended.done()) > nodes.spare()) {
      return Release.GONE;
    }
    throw unanswered("The release", name, round);
  }

  /** At all nodes; those that are slow are not waited for once it is clear what came of it. */
  private CompletableFuture<Round<Ended>> end(String name, byte[][] ending) {
    return end(name, ending, this::isClear);
  }

  private boolean isClear(Round<Ended> round) {
    return round.count(Ended::done) >= nodes.majority
        || round.count(ended -> !ended.done()) > nodes.spare();
  }

  private CompletableFuture<Round<Ended>> end(
      String name, byte[][] ending, Predicate<Round<Ended>> clear) {
    if (closed) {
      return CompletableFuture.failedFuture(closedException());
    }
    return nodes
        .round(
            Purpose.CLAIMS,
            Script.REDLOCK_END,
            RedlockLayout.keys(name),
            run -> ending,
            Ended::parse)
        .until(clear, nodes.longPatienceNanos());
  }

  private StoreUnavailableException unanswered(String what, String name, Round<Ended> round) {
    return nodes.failure(
        what + " of lock '" + name + "'",
        round.describe(ended -> ended.done() ? "did it" : "does not have it"));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return look(name)
        .thenCompose(
            report -> {
              MajorityView.Found found = report.find(number);
              return found == null
                  ? CompletableFuture.completedFuture(false)
                  : force(name, number, found);
            });
  }

  /**
   * First a majority is told, then the hold is ended: if a node that has ended it loses its memory,
   * the others know that its owner must not get it back.
   */
  private CompletableFuture<Boolean> force(String name, long number, MajorityView.Found found) {
    byte[] owner = found.owner();
    long attempt = found.attempt();
    long term = found.termMillis();
    return end(name, RedlockRequest.force(owner, attempt, false, term, number))
        .thenCompose(
            told ->
                forced(name, told)
                    ? end(name, RedlockRequest.force(owner, attempt, true, term, number))
                        .thenApply(round -> forced(name, round))
                    : CompletableFuture.completedFuture(false));
  }

  private boolean forced(String name, Round<Ended> round) {
    if (round.count(Ended::done) >= nodes.majority) {
      return round.count(Ended::had) > 0;
    }
    if (round.count(ended -> !ended.done()) > nodes.spare()) {
      return false;
    }
    throw unanswered("The forced release", name, round);
  }

  // Looking. ------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return look(name).thenApply(report -> report.state(name));
  }

  private CompletableFuture<MajorityView> look(String name) {
    if (closed) {
      return CompletableFuture.failedFuture(closedException());
    }
    return nodes
        .round(
            Purpose.CLAIMS,
            Script.REDLOCK_INSPECT,
            RedlockLayout.keys(name),
            run -> new byte[0][],
            Row::parse)
        .within(nodes.patienceNanos(), this::hasMajority, nodes.longPatienceNanos())
        .thenApply(
            round -> {
              if (!hasMajority(round)) {
                throw nodes.failure(
                    "The inspection of lock '" + name + "'", round.describe(answer -> "answered"));
              }
              return new MajorityView(nodes, round);
            });
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return closed ? CompletableFuture.failedFuture(closedException()) : listing.list(prefix, limit);
  }

  /** Names that any node knows; which of them are held is asked afterwards. */
  private CompletableFuture<List<String>> names(String prefix) {
    List<CompletableFuture<List<String>>> asked = new ArrayList<>();
    for (Node node : nodes.all) {
      asked.add(NameIndex.names(node, prefix).exceptionally(failure -> List.of()));
    }
    return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
        .thenApply(
            done -> asked.stream().flatMap(names -> names.join().stream()).distinct().toList());
  }

  @Override
  public CompletableFuture<List<Finding>> diagnose() {
    return new RedlockDiagnostics(nodes).examine();
  }

  private StoreUnavailableException closedException() {
    return new StoreUnavailableException(nodes.description(), "The store is closed", null);
  }

  @Override
  public void close() {
    closed = true;
    recovery.close();
    claims.close(closedException());
    List<CompletableFuture<Void>> closing = new ArrayList<>();
    for (Node node : nodes.all) {
      closing.addAll(node.server().close());
    }
    Connecting.awaitClosed(closing);
    driver.close();
  }
}
