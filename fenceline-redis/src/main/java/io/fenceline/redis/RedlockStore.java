package io.fenceline.redis;

import static io.fenceline.redis.Answers.number;
import static io.fenceline.redis.Layout.bytes;

import io.fenceline.Finding;
import io.fenceline.Guarantees;
import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.Topology.Purpose;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Predicate;

/**
 * Locks on independent Redis servers, of which a majority decides: Redlock, with tokens.
 *
 * <p>Start at {@link RedlockBallot}, which is one attempt, and {@link RedlockRecovery}, which lets
 * nodes vote again that have lost their memory. The design, its model and what breaks it are in
 * {@code docs/design/0011-redlock.md}.
 */
final class RedlockStore implements LockStore {
  private static final byte[] NO_CHANNEL = new byte[0];
  private static final byte[] RELEASE = bytes("r");
  private static final byte[] FORCE = bytes("f");
  private static final byte[] ZERO = bytes(0);

  private final RedlockNodes nodes;
  private final Guarantees guarantees;
  private final Driver driver;
  private final RedlockRecovery recovery;
  private final RedlockRenewals renewals;
  private final Listing listing;
  private final byte[] client;
  private final String channel;
  private final AtomicLongArray seen = new AtomicLongArray(Layout.BUCKETS);
  private final RedlockClaim.Surroundings surroundings;

  /** Claims that are under way or wait, by owner. */
  private final Map<Owner, RedlockClaim> open = new ConcurrentHashMap<>();

  private final RedlockHeldSlots held;
  private volatile boolean closed;

  RedlockStore(RedlockNodes nodes, Guarantees guarantees, Driver driver, String channel) {
    this.nodes = nodes;
    this.guarantees = guarantees;
    this.driver = driver;
    this.channel = channel;
    this.client = Answers.client(nodes.context.client());
    this.recovery = new RedlockRecovery(nodes);
    this.held = new RedlockHeldSlots(nodes.context.time());
    this.renewals = new RedlockRenewals(nodes, client, held::get, recovery::start);
    this.listing = new Listing(this::names, this::inspect);
    this.surroundings =
        new RedlockClaim.Surroundings(
            nodes,
            this::ballot,
            this::listen,
            claim -> open.remove(claim.request().owner(), claim),
            (claim, slots) -> held.put(claim.owner(), slots, claim.term()),
            recovery::start);
  }

  RedlockNodes nodes() {
    return nodes;
  }

  RedlockRecovery recovery() {
    return recovery;
  }

  @Override
  public String description() {
    return nodes.description();
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  // Claims. -------------------------------------------------------------------------------------

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    if (closed) {
      handler.failed(closedException());
      return;
    }
    RedlockSlots.check(request.mode());
    recovery.knows(request.term());
    RedlockSlots slots = held.get(request.owner());
    RedlockClaim claim = new RedlockClaim(request, handler, surroundings, slots);
    RedlockClaim before = open.put(request.owner(), claim);
    if (before != null) {
      before.stop(); // A repeat; the first one's answer is not waited for any more.
    }
    claim.ask();
  }

  private RedlockBallot ballot(RedlockRequest request) {
    boolean waits = request.claim().waits();
    return new RedlockBallot(nodes, request, seen, client, waits ? bytes(channel) : NO_CHANNEL);
  }

  /** Someone waits: makes sure that messages come. */
  private void listen(RedlockClaim waiting) {
    for (RedlockNode node : nodes.all) {
      Subscriber subscriber = node.server().subscriber();
      if (!subscriber.listensTo(channel)) {
        subscriber.listen(channel, false).exceptionally(failure -> null);
      }
    }
  }

  /** A node tells that a name got free. */
  void told(int node, String name) {
    for (RedlockClaim claim : open.values()) {
      if (claim.request().name().equals(name)) {
        claim.hint(node);
      }
    }
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    if (closed) {
      return CompletableFuture.failedFuture(closedException());
    }
    RedlockClaim claim = open.get(request.owner());
    if (claim != null) {
      claim.stop();
    }
    held.remove(request.owner());
    return RedlockBallot.undoing(nodes, request)
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

  private boolean hasMajority(RedlockRound round) {
    return round.answered() >= nodes.majority;
  }

  // Holds. --------------------------------------------------------------------------------------

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    for (RenewRequest request : requests) {
      ClaimRequest claim = request.grant().claim();
      Duration term = request.lease().plus(claim.delay());
      recovery.knows(term);
      held.prolong(claim.owner(), term);
    }
    return renewals.renew(requests);
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    ClaimRequest claim = request.grant().claim();
    return end(claim.name(), claim.owner().bytes(), RELEASE, bytes(request.keepClosed().toMillis()))
        .thenApply(
            round -> {
              held.remove(claim.owner());
              if (round.count(RedlockStore::isDone) >= nodes.majority) {
                return Release.RELEASED;
              }
              if (round.count(RedlockStore::isNotDone) > nodes.spare()) {
                return Release.GONE;
              }
              throw unanswered("The release", claim.name(), round);
            });
  }

  private static boolean isDone(List<Object> answer) {
    return number(answer.get(0)) == 1;
  }

  private static boolean isNotDone(List<Object> answer) {
    return !isDone(answer);
  }

  /** At all nodes; those that are slow are not waited for once it is clear what came of it. */
  private CompletableFuture<RedlockRound> end(
      String name, byte[] owner, byte[] how, byte[] keepMillis) {
    if (closed) {
      return CompletableFuture.failedFuture(closedException());
    }
    Predicate<RedlockRound> clear =
        round ->
            round.count(RedlockStore::isDone) >= nodes.majority
                || round.count(RedlockStore::isNotDone) > nodes.spare();
    return nodes
        .round(
            Purpose.CLAIMS,
            Script.REDLOCK_END,
            RedlockLayout.keys(name),
            run -> new byte[][] {owner, how, keepMillis})
        .until(clear, nodes.longPatienceNanos());
  }

  private StoreUnavailableException unanswered(String what, String name, RedlockRound round) {
    return nodes.failure(
        what + " of lock '" + name + "'",
        round.describe(answer -> isDone(answer) ? "did it" : "does not have it"));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return look(name)
        .thenCompose(
            report -> {
              byte[] owner = report.owner(number);
              return owner == null
                  ? CompletableFuture.completedFuture(false)
                  : end(name, owner, FORCE, ZERO).thenApply(round -> forced(name, round));
            });
  }

  private boolean forced(String name, RedlockRound round) {
    if (round.count(RedlockStore::isDone) >= nodes.majority) {
      return true;
    }
    if (round.count(RedlockStore::isNotDone) > nodes.spare()) {
      return false;
    }
    throw unanswered("The forced release", name, round);
  }

  // Looking. ------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return look(name).thenApply(report -> report.state(name));
  }

  private CompletableFuture<RedlockReport> look(String name) {
    if (closed) {
      return CompletableFuture.failedFuture(closedException());
    }
    return nodes
        .round(
            Purpose.CLAIMS, Script.REDLOCK_INSPECT, RedlockLayout.keys(name), run -> new byte[0][])
        .within(nodes.patienceNanos(), this::hasMajority, nodes.longPatienceNanos())
        .thenApply(
            round -> {
              if (!hasMajority(round)) {
                throw nodes.failure(
                    "The inspection of lock '" + name + "'", round.describe(answer -> "answered"));
              }
              return new RedlockReport(nodes, round);
            });
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return closed ? CompletableFuture.failedFuture(closedException()) : listing.list(prefix, limit);
  }

  /** Names that any node knows; which of them are held is asked afterwards. */
  private CompletableFuture<List<String>> names(String prefix) {
    List<CompletableFuture<List<String>>> asked = new ArrayList<>();
    for (RedlockNode node : nodes.all) {
      asked.add(RedlockIndex.names(node, prefix).exceptionally(failure -> List.of()));
    }
    return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
        .thenApply(
            done -> asked.stream().flatMap(names -> names.join().stream()).distinct().toList());
  }

  @Override
  public CompletableFuture<List<Finding>> diagnose() {
    return new RedlockDoctor(nodes).examine();
  }

  private StoreUnavailableException closedException() {
    return new StoreUnavailableException(nodes.description(), "The store is closed", null);
  }

  @Override
  public void close() {
    closed = true;
    recovery.close();
    for (RedlockClaim claim : List.copyOf(open.values())) {
      claim.fail(closedException());
    }
    List<CompletableFuture<Void>> closing = new ArrayList<>();
    for (RedlockNode node : nodes.all) {
      closing.addAll(node.server().close());
    }
    Connecting.awaitClosed(closing);
    driver.close();
  }
}
