package io.fenceline.redis;

import static io.fenceline.redis.layout.Layout.bytes;

import io.fenceline.FencelineException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.redis.claim.Claim;
import io.fenceline.redis.claim.Renewals;
import io.fenceline.redis.claim.SoloHead;
import io.fenceline.redis.claim.UncontendedBuckets;
import io.fenceline.redis.connection.Driver;
import io.fenceline.redis.connection.Failures;
import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.redis.connection.Reply;
import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.diagnostics.Diagnostics;
import io.fenceline.redis.diagnostics.Listing;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.ForeignContentException;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.settings.Durations;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Locks in Redis: each request is one call of a script, which decides everything. */
final class RedisLockStore implements LockStore {
  /*
   * Two holders, a token that goes back, a name that never frees: what could bring them about here.
   *
   * - A claim that is sent again by the driver after it was given up: see Wire.
   * - A grant by message that is believed for too long: it counts from our last answered question
   *   (QueuedClaim), and table.lua tells a length that fits.
   * - A counter that was lost (flushed, evicted, failed over) together with a clock that is behind:
   *   the largest number seen of each bucket is sent along with every claim.
   * - An undo that comes late: it names the owner, and no owner that was undone is used again; so only
   *   the runtime undoes, when it is done with the owner.
   * - A withdrawal that overtakes its claim: what is left then ends with its lease. One that comes
   *   between the short script and the full one stops nothing; the full one's answer is heard, and
   *   the runtime withdraws again.
   * - A server whose answer never comes: every request ends with the operation timeout, and the
   *   connection that was silent is replaced.
   */
  private static final Logger LOG = LoggerFactory.getLogger(RedisLockStore.class);
  private static final Duration USUAL_INTERVAL = Duration.ofSeconds(1);
  private static final long LISTENING_CHECK_NANOS = 5_000_000_000L;
  private static final byte[] KIND_EXCLUSIVE = bytes("x");
  private static final byte[] KIND_SHARED = bytes("s");
  private static final byte[] KIND_PERMITS = bytes("p");
  private static final byte[] NONE = new byte[0];
  private static final byte[] ZERO = bytes(0);
  private static final byte[] ONE = bytes(1);
  private static final long HAS_TABLE = 2;

  private final String description;
  private volatile Guarantees guarantees;
  private final ReplicaWait replicaWait;
  private final Topology topology;
  private final Driver driver;
  private final StoreContext context;
  private final Renewals renewals;
  private final Listing listing;
  private final byte[] client;
  private final SoloHead heads;
  private final Claim.Open open = new Claim.Open();
  private final AtomicLongArray seen = new AtomicLongArray(Layout.BUCKETS);
  private final UncontendedBuckets simplicity = new UncontendedBuckets();
  private final AtomicBoolean checksListening = new AtomicBoolean();
  private volatile boolean closed;

  RedisLockStore(
      String description,
      Guarantees guarantees,
      ReplicaWait replicaWait,
      Function<Topology.Listener, Topology> topology,
      Driver driver,
      StoreContext context) {
    this.description = description;
    this.guarantees = guarantees;
    this.replicaWait = replicaWait;
    this.topology = topology.apply((channel, message) -> told(message));
    this.driver = driver;
    this.context = context;
    this.renewals = new Renewals(this.topology, context.time(), description);
    this.listing = new Listing(prefix -> Listing.heads(this.topology, prefix), this::inspect);
    this.client = Answers.client(context.client());
    this.heads = new SoloHead(client);
  }

  Topology topology() {
    return topology;
  }

  @Override
  public String description() {
    return description;
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
    if (!request.waits()) {
      queued(request, handler, () -> {}).ask();
      return;
    }
    new Claim(
            request,
            handler,
            open,
            waiting -> listen(waiting.bucket(), waiting),
            claim -> queued(request, claim, claim::listen))
        .ask();
  }

  private QueuedClaim queued(ClaimRequest request, ClaimHandler handler, Runnable beforeItWaits) {
    return new QueuedClaim(
        description, request, handler, context, USUAL_INTERVAL, asked -> ask(asked, beforeItWaits));
  }

  private CompletableFuture<ClaimAnswer> ask(ClaimRequest request, Runnable beforeItWaits) {
    CompletableFuture<ClaimAnswer> result = new CompletableFuture<>();
    Layout.Place place = Layout.simple(request.name());
    if (replicaWait.isNone() && simplicity.isLikely(place.bucket())) {
      take(request, place, beforeItWaits, result);
    } else {
      askFully(request, beforeItWaits, result);
    }
    return result;
  }

  /** The short way, for a name of which nothing exists. */
  private void take(
      ClaimRequest request,
      Layout.Place place,
      Runnable beforeItWaits,
      CompletableFuture<ClaimAnswer> result) {
    Call call =
        new Call(
            Script.TAKE,
            place.keys(),
            SoloHead.mark(request.owner()),
            heads.facts(request),
            bytes(request.lease().toMillis() + request.delay().toMillis()),
            bytes(seen.get(place.bucket())));
    topology
        .call(Purpose.CLAIMS, place.bucket(), call)
        .whenComplete(
            (given, failure) -> {
              if (failure != null) {
                result.completeExceptionally(claimFailure(request, failure));
                return;
              }
              long number = Answers.number(given.get(0));
              if (number == 0) {
                simplicity.wasNot(place.bucket());
                askFully(request, beforeItWaits, result);
              } else {
                hasSeen(place.bucket(), number);
                result.complete(new ClaimAnswer.Granted(number, request.lease()));
              }
            });
  }

  private void askFully(
      ClaimRequest request, Runnable beforeItWaits, CompletableFuture<ClaimAnswer> result) {
    beforeItWaits.run();
    Layout.Place place = Layout.place(request.name());
    Call call = claimCall(request, place);
    CompletableFuture<List<Object>> answer =
        replicaWait.isNone()
            ? topology.call(Purpose.CLAIMS, place.bucket(), call)
            : topology.callAndWait(place.bucket(), call, replicaWait);
    answer.whenComplete(
        (given, failure) -> {
          if (failure != null) {
            result.completeExceptionally(claimFailure(request, failure));
            return;
          }
          try {
            ClaimAnswer meaning = Answers.claim(request, given);
            if (meaning instanceof ClaimAnswer.Granted granted) {
              hasSeen(place.bucket(), granted.number());
              finish(request, granted, given, result);
              return;
            }
            if (meaning instanceof ClaimAnswer.Waiting waiting) {
              hasSeen(place.bucket(), waiting.lastNumber().orElse(0));
            }
            result.complete(meaning);
          } catch (RuntimeException e) {
            result.completeExceptionally(claimFailure(request, e));
          }
        });
  }

  /** The largest number of each bucket goes along with every claim: see {@code number.lua}. */
  private void hasSeen(int bucket, long number) {
    seen.accumulateAndGet(bucket, number, Math::max);
  }

  private RuntimeException claimFailure(ClaimRequest request, Throwable failure) {
    return Failures.ofLock(description, "The claim", request.name(), failure);
  }

  /**
   * A grant that too few replicas have is reported as failed, and left to the runtime: a claim that
   * waits is sent again, which makes replicas acknowledge it anew, and any other is withdrawn for
   * good. A withdrawal from here would name an owner that is used again, and could come late.
   */
  private void finish(
      ClaimRequest request,
      ClaimAnswer.Granted granted,
      List<Object> answer,
      CompletableFuture<ClaimAnswer> result) {
    long replicas = replicaWait.isNone() ? 0 : Answers.number(answer.get(answer.size() - 1));
    if (replicas < replicaWait.replicas()) {
      result.completeExceptionally(
          new StoreUnavailableException(
              description,
              "Lock '%s' is not held: it was granted, but %d of %d replicas acknowledged it within %s"
                  .formatted(
                      request.name(),
                      replicas,
                      replicaWait.replicas(),
                      Durations.show(replicaWait.timeout())),
              null));
      return;
    }
    if (!replicaWait.isNone()) {
      LOG.debug(
          "Lock '{}' was acknowledged by {} replicas, {} wanted (store={})",
          request.name(),
          replicas,
          replicaWait.replicas(),
          description);
    }
    result.complete(granted);
  }

  private Call claimCall(ClaimRequest request, Layout.Place place) {
    byte[] kind;
    byte[] count = ONE;
    byte[] total = ZERO;
    Mode mode = request.mode();
    if (mode instanceof Mode.Permits permits) {
      kind = KIND_PERMITS;
      count = bytes(permits.count());
      total = bytes(permits.total());
    } else {
      kind = mode instanceof Mode.Shared ? KIND_SHARED : KIND_EXCLUSIVE;
    }
    return new Call(
        Script.CLAIM,
        place.keys(),
        request.owner().bytes(),
        kind,
        count,
        total,
        bytes(request.lease().toMillis()),
        bytes(request.delay().toMillis()),
        request.waits() ? topology.channel(place.bucket()) : NONE,
        replicaWait.isNone() && !request.fixed() ? ZERO : ONE,
        bytes(seen.get(place.bucket())),
        client);
  }

  // Messages. -----------------------------------------------------------------------------------

  /** Someone waits: makes sure that messages come, and asks again if some may have been missed. */
  private void listen(int bucket, Claim waiting) {
    CompletableFuture<Void> listening = topology.listen(bucket);
    if (!listening.isDone()) {
      listening.thenRun(waiting::ask);
    }
    if (checksListening.compareAndSet(false, true)) {
      checkListeningLater();
    }
  }

  private void checkListeningLater() {
    context
        .time()
        .schedule(
            LISTENING_CHECK_NANOS,
            () -> context.time().lane(Lane.WORK).execute(this::checkListening));
  }

  private void checkListening() {
    if (closed || open.isEmpty()) {
      checksListening.set(false);
      return;
    }
    topology.checkListening();
    checkListeningLater();
  }

  /** A message of {@code table.lua}: the owner's hash, then number and length. */
  private void told(byte[] message) {
    if (message.length <= Claim.HASH_LENGTH) {
      return;
    }
    String text = Answers.text(message);
    Claim claim = open.find(text.substring(0, Math.min(text.length(), Claim.HASH_LENGTH)));
    if (claim != null) {
      String[] figures = text.substring(Claim.HASH_LENGTH).split(" ", -1);
      long number = Long.parseLong(figures[0]);
      hasSeen(claim.bucket(), number);
      claim.told(number, Duration.ofMillis(Long.parseLong(figures[1])));
    }
  }

  // The rest. -----------------------------------------------------------------------------------

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    open.stop(request.owner());
    return one(Script.WITHDRAW, request.name(), "The withdrawal", request.owner().bytes())
        .thenAccept(answer -> {});
  }

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    return renewals.renew(requests);
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    ClaimRequest claim = request.grant().claim();
    Layout.Place place = Layout.simple(claim.name());
    if (!request.keepClosed().isZero() || closed || !simplicity.isLikely(place.bucket())) {
      return releaseFully(request);
    }
    byte[][] head = {place.keys()[0]};
    Call call = new Call(Script.GIVE, head, SoloHead.mark(claim.owner()));
    CompletableFuture<Release> result = new CompletableFuture<>();
    topology
        .call(Purpose.CLAIMS, place.bucket(), call)
        .whenComplete(
            (answer, failure) -> {
              if (failure != null) {
                result.completeExceptionally(
                    Failures.ofLock(description, "The release", claim.name(), failure));
                return;
              }
              long fate = Answers.number(answer.get(0));
              if (fate == HAS_TABLE) {
                simplicity.wasNot(place.bucket());
                Reply.pass(releaseFully(request), result);
              } else {
                result.complete(fate == 1 ? Release.RELEASED : Release.GONE);
              }
            });
    return result;
  }

  private CompletableFuture<Release> releaseFully(ReleaseRequest request) {
    ClaimRequest claim = request.grant().claim();
    return one(
            Script.RELEASE,
            claim.name(),
            "The release",
            claim.owner().bytes(),
            bytes(request.keepClosed().toMillis()))
        .thenApply(answer -> Answers.number(answer.get(0)) == 1 ? Release.RELEASED : Release.GONE);
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return one(Script.FORCE, name, "The forced release", bytes(number))
        .thenApply(answer -> Answers.number(answer.get(0)) == 1);
  }

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return one(Script.INSPECT, name, "The inspection")
        .thenApply(
            rows -> {
              try {
                return Answers.inspection(name, rows);
              } catch (ForeignContentException e) {
                throw Failures.ofLock(description, "The inspection", name, e);
              }
            });
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return listing
        .list(prefix, limit)
        .exceptionallyCompose(
            failure ->
                CompletableFuture.failedFuture(
                    Failures.meaning(description, "The listing", failure)));
  }

  @Override
  public CompletableFuture<List<Finding>> diagnose() {
    return new Diagnostics(topology, replicaWait, context.time()).examine();
  }

  private CompletableFuture<List<Object>> one(
      Script script, String name, String what, byte[]... args) {
    if (closed) {
      return CompletableFuture.failedFuture(closedException());
    }
    Layout.Place place = Layout.place(name);
    return topology
        .call(Purpose.CLAIMS, place.bucket(), new Call(script, place.keys(), args))
        .exceptionallyCompose(
            failure ->
                CompletableFuture.failedFuture(Failures.ofLock(description, what, name, failure)));
  }

  private FencelineException closedException() {
    return new StoreUnavailableException(description, "The store is closed", null);
  }

  @Override
  public void close() {
    closed = true;
    open.failAll(closedException());
    topology.close();
    driver.close();
  }
}
