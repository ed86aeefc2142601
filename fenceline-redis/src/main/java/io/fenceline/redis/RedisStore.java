package io.fenceline.redis;

import io.fenceline.FencelineException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.redis.claim.Claim;
import io.fenceline.redis.claim.ClaimContext;
import io.fenceline.redis.claim.ClaimRequests;
import io.fenceline.redis.claim.Claims;
import io.fenceline.redis.claim.FastPath;
import io.fenceline.redis.claim.Renewals;
import io.fenceline.redis.connection.Driver;
import io.fenceline.redis.connection.Failures;
import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.diagnostics.Diagnostics;
import io.fenceline.redis.diagnostics.Listing;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Layout;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;

/** Locks in Redis: each request is one call of a script, which decides everything. */
final class RedisStore implements LockStore {
  /*
   * Two holders, a token that goes back, a name that never frees: what could bring them about here.
   *
   * - A claim that is sent again by the driver after it was given up: see Connection.
   * - Messages, and what is asked too late: see Claim.
   * - A counter that was lost (flushed, evicted, failed over) together with a clock that is behind:
   *   the largest number seen of each bucket is sent along with every claim.
   * - An undo that comes late: it names the owner, and no owner that was undone is used again; so only
   *   the runtime undoes, when it is done with the owner.
   * - A withdrawal that overtakes its claim: what is left then ends with its lease.
   * - A server whose answer never comes: every request ends with the operation timeout, and the
   *   connection that was silent is replaced.
   */
  private final String description;
  private volatile Guarantees guarantees;
  private final ReplicaWait replicaWait;
  private final Topology topology;
  private final Driver driver;
  private final StoreContext context;
  private final Claims claims;
  private final ClaimRequests requests;
  private final FastPath fastPath;
  private final ClaimContext claimContext;
  private final Renewals renewals;
  private final Listing listing;
  private volatile boolean closed;

  RedisStore(
      String description,
      Guarantees guarantees,
      ReplicaWait replicaWait,
      Function<Topology.Listener, Topology> topology,
      Driver driver,
      StoreContext context,
      boolean hasFastPath) {
    this.description = description;
    this.guarantees = guarantees;
    this.replicaWait = replicaWait;
    this.claims = new Claims();
    this.topology = topology.apply((channel, message) -> claims.told(message));
    this.driver = driver;
    this.context = context;
    byte[] client = Answers.client(context.client());
    AtomicLongArray seen = new AtomicLongArray(Layout.BUCKETS);
    this.requests = new ClaimRequests(description, this.topology, replicaWait, seen, client);
    this.fastPath = new FastPath(hasFastPath, this.topology, replicaWait, seen, client);
    this.claimContext = new ClaimContext(context, this.topology, fastPath, requests, claims, seen);
    this.renewals = new Renewals(this.topology, context.time(), description);
    this.listing = new Listing(prefix -> Listing.heads(this.topology, prefix), this::inspect);
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
    new Claim(request, handler, claimContext).ask();
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    claims.stop(request.owner());
    return closed ? failsClosed() : requests.withdraw(request);
  }

  // Holds. --------------------------------------------------------------------------------------

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    return renewals.renew(requests);
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    if (closed) {
      return failsClosed();
    }
    CompletableFuture<Optional<Release>> given = fastPath.give(request);
    if (given == null) {
      return requests.release(request);
    }
    return given
        .exceptionallyCompose(
            failure ->
                CompletableFuture.failedFuture(
                    Failures.ofLock(
                        description, "The release", request.grant().claim().name(), failure)))
        .thenCompose(
            fate ->
                fate.map(CompletableFuture::completedFuture)
                    .orElseGet(() -> requests.release(request)));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return closed ? failsClosed() : requests.forceRelease(name, number);
  }

  // Looking. ------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return closed ? failsClosed() : requests.inspect(name);
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

  private <T> CompletableFuture<T> failsClosed() {
    return CompletableFuture.failedFuture(closedException());
  }

  private FencelineException closedException() {
    return new StoreUnavailableException(description, "The store is closed", null);
  }

  @Override
  public void close() {
    closed = true;
    claims.close(closedException());
    topology.close();
    driver.close();
  }
}
