package io.fenceline.redis.claim;

import static io.fenceline.redis.layout.Layout.bytes;

import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.connection.Failures;
import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.ForeignContentException;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.settings.Durations;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is asked of a server about one name: each request is one call of a script, which decides,
 * and returns what the script answered.
 */
public final class ClaimRequests {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimRequests.class);
  private static final byte[] KIND_EXCLUSIVE = bytes("x");
  private static final byte[] KIND_SHARED = bytes("s");
  private static final byte[] KIND_PERMITS = bytes("p");
  private static final byte[] NO_CHANNEL = new byte[0];
  private static final byte[] ZERO = bytes(0);
  private static final byte[] ONE = bytes(1);

  private final String store;
  private final Topology topology;
  private final ReplicaWait replicaWait;
  private final AtomicLongArray seen;
  private final byte[] client;

  /**
   * Requests of one client.
   *
   * @param store description of the store, without secrets
   * @param seen see {@link ClaimContext}
   * @param client as it is written down with a claim
   */
  public ClaimRequests(
      String store,
      Topology topology,
      ReplicaWait replicaWait,
      AtomicLongArray seen,
      byte[] client) {
    this.store = store;
    this.topology = topology;
    this.replicaWait = replicaWait;
    this.seen = seen;
    this.client = client;
  }

  // Claims. -------------------------------------------------------------------------------------

  /** Asks for a claim; fails with what the driver has thrown. */
  CompletableFuture<ClaimAnswer> claim(ClaimRequest request) {
    Layout.Place place = Layout.place(request.name());
    Call call = claimCall(request, place);
    CompletableFuture<List<Object>> answer =
        replicaWait.isNone()
            ? topology.call(Purpose.CLAIMS, place.bucket(), call)
            : topology.callAndWait(place.bucket(), call, replicaWait);
    return answer.thenApply(given -> meaning(request, place.bucket(), given));
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
        request.waits() ? topology.channel(place.bucket()) : NO_CHANNEL,
        replicaWait.isNone() && !request.fixed() ? ZERO : ONE,
        bytes(seen.get(place.bucket())),
        client);
  }

  private ClaimAnswer meaning(ClaimRequest request, int bucket, List<Object> given) {
    ClaimAnswer answer = Answers.claim(request, given);
    if (answer instanceof ClaimAnswer.Granted granted) {
      seen.accumulateAndGet(bucket, granted.number(), Math::max);
      checkReplicas(request, given);
    } else if (answer instanceof ClaimAnswer.Waiting waiting) {
      seen.accumulateAndGet(bucket, waiting.lastNumber().orElse(0), Math::max);
    }
    return answer;
  }

  /**
   * A grant that too few replicas have is reported as failed, and left to the runtime: a claim that
   * waits is sent again, which makes replicas acknowledge it anew, and any other is withdrawn for
   * good. A withdrawal from here would name an owner that is used again, and could come late.
   */
  private void checkReplicas(ClaimRequest request, List<Object> given) {
    if (replicaWait.isNone()) {
      return;
    }
    long replicas = Answers.number(given.get(given.size() - 1));
    if (replicas < replicaWait.replicas()) {
      throw new StoreUnavailableException(
          store,
          "Lock '%s' is not held: it was granted, but %d of %d replicas acknowledged it within %s"
              .formatted(
                  request.name(),
                  replicas,
                  replicaWait.replicas(),
                  Durations.show(replicaWait.timeout())),
          null);
    }
    LOG.debug(
        "Lock '{}' was acknowledged by {} replicas, {} wanted (store={})",
        request.name(),
        replicas,
        replicaWait.replicas(),
        store);
  }

  /** What the runtime is told of a claim that has failed. */
  RuntimeException claimFailure(ClaimRequest request, Throwable failure) {
    return Failures.ofLock(store, "The claim", request.name(), failure);
  }

  // The rest. -----------------------------------------------------------------------------------

  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    return call(Script.WITHDRAW, request.name(), "The withdrawal", request.owner().bytes())
        .thenAccept(answer -> {});
  }

  public CompletableFuture<Release> release(ReleaseRequest request) {
    ClaimRequest claim = request.grant().claim();
    byte[] keepMillis = bytes(request.keepClosed().toMillis());
    return call(Script.RELEASE, claim.name(), "The release", claim.owner().bytes(), keepMillis)
        .thenApply(answer -> isDone(answer) ? Release.RELEASED : Release.GONE);
  }

  /** Ends a hold whoever owns it. */
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return call(Script.FORCE, name, "The forced release", bytes(number))
        .thenApply(ClaimRequests::isDone);
  }

  public CompletableFuture<NameState> inspect(String name) {
    return call(Script.INSPECT, name, "The inspection")
        .thenApply(
            rows -> {
              try {
                return Answers.inspection(name, rows);
              } catch (ForeignContentException e) {
                throw Failures.ofLock(store, "The inspection", name, e);
              }
            });
  }

  private CompletableFuture<List<Object>> call(
      Script script, String name, String what, byte[]... args) {
    Layout.Place place = Layout.place(name);
    return topology
        .call(Purpose.CLAIMS, place.bucket(), new Call(script, place.keys(), args))
        .exceptionallyCompose(
            failure -> CompletableFuture.failedFuture(Failures.ofLock(store, what, name, failure)));
  }

  private static boolean isDone(List<Object> answer) {
    return Answers.number(answer.get(0)) == 1;
  }
}
