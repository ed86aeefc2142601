package io.fenceline.redis.claim;

import static io.fenceline.redis.layout.Layout.bytes;

import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The fast path: claims and releases a name that nobody else uses by short scripts, {@code
 * claim-uncontended.lua} and {@code release-uncontended.lua}, of which many may be sent as one.
 *
 * <p>A short script does all of it or nothing. Where it does nothing, since someone else wants the
 * name, it has cost a round trip, and the path that decides is taken. So whether it is worth trying
 * is guessed, for the names of a bucket together; what is done does not depend on the guess.
 */
public final class FastPath {
  /** After this many full calls, the short ones get another chance. */
  private static final int FULL_CALLS = 32;

  private static final long RELEASED = 1;
  private static final long HAS_TABLE = 2;

  private final boolean isOn;
  private final boolean takes;
  private final Topology topology;
  private final AtomicLongArray seen;
  private final SoleHolder heads;
  private final AtomicIntegerArray fullCalls = new AtomicIntegerArray(Layout.BUCKETS);

  /**
   * The fast path of one client.
   *
   * @param isOn false to leave everything to the path that decides
   * @param replicaWait grants that replicas must acknowledge are not made by short scripts
   * @param seen see {@link ClaimContext}
   * @param client as it is written down with a grant
   */
  public FastPath(
      boolean isOn,
      Topology topology,
      ReplicaWait replicaWait,
      AtomicLongArray seen,
      byte[] client) {
    this.isOn = isOn;
    this.takes = isOn && replicaWait.isNone();
    this.topology = topology;
    this.seen = seen;
    this.heads = new SoleHolder(client);
  }

  /**
   * Claims a name of which nothing exists.
   *
   * @return the number of the grant, empty if nothing was done; null if it is not worth trying
   */
  @Nullable CompletableFuture<OptionalLong> take(ClaimRequest request) {
    Layout.Place place = Layout.simple(request.name());
    if (!takes || !isLikely(place.bucket())) {
      return null;
    }
    Call call =
        new Call(
            Script.CLAIM_UNCONTENDED,
            place.keys(),
            SoleHolder.mark(request.owner()),
            heads.facts(request),
            bytes(request.lease().toMillis() + request.delay().toMillis()),
            bytes(seen.get(place.bucket())));
    return topology
        .callBatched(place.bucket(), call)
        .thenApply(
            answer -> {
              long number = Answers.number(answer.get(0));
              if (number == 0) {
                isContended(place.bucket());
                return OptionalLong.empty();
              }
              seen.accumulateAndGet(place.bucket(), number, Math::max);
              return OptionalLong.of(number);
            });
  }

  /**
   * Releases a name that nobody waits for.
   *
   * @return what became of it, empty if nothing was done; null if it is not worth trying
   */
  public @Nullable CompletableFuture<Optional<Release>> give(ReleaseRequest request) {
    ClaimRequest claim = request.grant().claim();
    Layout.Place place = Layout.simple(claim.name());
    if (!isOn || !request.keepClosed().isZero() || !isLikely(place.bucket())) {
      return null;
    }
    byte[][] head = {place.keys()[0]};
    return topology
        .callBatched(
            place.bucket(),
            new Call(Script.RELEASE_UNCONTENDED, head, SoleHolder.mark(claim.owner())))
        .thenApply(
            answer -> {
              long fate = Answers.number(answer.get(0));
              if (fate == HAS_TABLE) {
                isContended(place.bucket());
                return Optional.empty();
              }
              return Optional.of(fate == RELEASED ? Release.RELEASED : Release.GONE);
            });
  }

  private boolean isLikely(int bucket) {
    int left = fullCalls.get(bucket);
    if (left == 0) {
      return true;
    }
    fullCalls.compareAndSet(bucket, left, left - 1);
    return false;
  }

  /** Someone else wants a name of this bucket. */
  private void isContended(int bucket) {
    fullCalls.set(bucket, FULL_CALLS);
  }
}
