package io.fenceline.etcd;

import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.settings.LeaseLimits;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.Validity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Locks in etcd. A claim is a key on the lease of a session; what it asks for is decided by the
 * order of create revisions ({@link LockQueue}), and it lasts as long as the session ({@link
 * Session}).
 */
final class EtcdStore implements LockStore {
  private static final Duration CLOSING = Duration.ofSeconds(1);

  private final EtcdClient etcd;
  private final Layout layout;
  private final Sessions sessions;
  private final Inspector inspector;
  private final Diagnostics diagnostics;
  private final Guarantees guarantees;
  private final Map<Owner, Claim> claims = new ConcurrentHashMap<>();

  /** Releases that are not answered yet, by name. */
  private final Map<String, CompletableFuture<?>> leaving = new ConcurrentHashMap<>();

  private volatile boolean closed;

  /**
   * Over a client that answers.
   *
   * @param shortest the shortest time to live that the server grants
   */
  EtcdStore(EtcdClient etcd, Layout layout, Duration shortest) {
    this.etcd = etcd;
    this.layout = layout;
    this.sessions = new Sessions(etcd, layout, this::lost);
    this.inspector = new Inspector(etcd, layout);
    this.diagnostics = new Diagnostics(etcd, layout, shortest);
    this.guarantees = guarantees(shortest);
  }

  static Guarantees guarantees(Duration shortest) {
    return new Guarantees(
        "etcd",
        EnumSet.of(
            Guarantee.LINEARIZABLE,
            Guarantee.FAIR,
            Guarantee.LOCK_DELAY,
            Guarantee.KEEP_AT_LEAST,
            Guarantee.SHARED_MODE,
            Guarantee.PERMITS),
        Certainty.YES,
        LeaseLimits.from(shortest),
        "none: a majority has a grant on its disks before it is answered, unless servers run with"
            + " --unsafe-no-fsync, which a client can't see",
        "none as long as a majority lives, and without one nothing is granted; but servers before"
            + " 3.4.31 and 3.5.13 may revoke live leases when a leader stalls and comes back",
        "none: leases run on the leader's monotonic clock, and anew with each leader",
        "grant numbers are revisions: they start again in a wiped cluster, and go back in one that is"
            + " restored from a snapshot without --bump-revision; connect with a tokenBase above all"
            + " tokens that fences have seen");
  }

  @Override
  public String description() {
    return etcd.description();
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  // Claims. -------------------------------------------------------------------------------------

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    Claim known = claims.get(request.owner());
    if (known != null) {
      known.again(handler);
      return;
    }
    Claim claim = new Claim(etcd, layout.name(request.name()), request, handler, this::forget);
    claims.put(request.owner(), claim);
    if (closed) {
      forget(claim);
      claim.closed();
      return;
    }
    CompletableFuture<?> last = leaving.get(request.name());
    if (last == null || !(request.mode() instanceof Mode.Exclusive)) {
      begin(claim);
    } else {
      // The server may do what was sent together in any order. Ahead of our own release, the claim
      // would find our own key in its way, and have to watch it.
      last.whenComplete((done, failure) -> begin(claim));
    }
  }

  private void begin(Claim claim) {
    ClaimRequest request = claim.request;
    Session ready = request.fixed() ? null : sessions.ready(request);
    if (ready != null) {
      claim.begin(ready);
      return;
    }
    sessions
        .open(request)
        .whenComplete(
            (session, failure) -> {
              if (session != null) {
                claim.begin(session);
              } else {
                claim.failedToBegin(failure);
              }
            });
  }

  private void forget(Claim claim) {
    claims.remove(claim.request.owner(), claim);
  }

  /** How many claims are remembered. */
  int remembered() {
    return claims.size();
  }

  /** A key is gone: taken away, or with its session. */
  private void lost(ClaimKey key) {
    Claim claim = claims.get(key.request.owner());
    if (claim != null && claim.key() == key) {
      claim.lost("its key, or the session of it, has ended");
    }
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    Claim claim = claims.get(request.owner());
    return claim == null ? inspector.remove(request) : claim.withdraw();
  }

  // Holds. --------------------------------------------------------------------------------------

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    Map<Session, CompletableFuture<Renewal>> bySession = new HashMap<>();
    List<CompletableFuture<Renewal>> answers = new ArrayList<>(requests.size());
    for (RenewRequest request : requests) {
      ClaimRequest claimed = request.grant().claim();
      Claim claim = claims.get(claimed.owner());
      ClaimKey key = claim == null ? null : claim.key();
      if (claim == null || key == null || !claim.isHeld()) {
        answers.add(CompletableFuture.completedFuture(Renewal.GONE));
      } else {
        key.touch();
        Session session = key.session();
        answers.add(
            session.shared
                ? bySession.computeIfAbsent(session, s -> s.renew(claimed.lease()))
                : extend(claim, key, request.lease()));
      }
    }
    return answers;
  }

  /** Starts a lease of its own again; a longer one takes its place, a shorter one never does. */
  private CompletableFuture<Renewal> extend(Claim claim, ClaimKey key, Duration length) {
    return key.extending(() -> extendNow(claim, key, length));
  }

  private CompletableFuture<Renewal> extendNow(Claim claim, ClaimKey key, Duration length) {
    Session before = key.session();
    Duration delay = key.request.delay();
    boolean fits = ServerLease.seconds(length.plus(delay)) <= before.server.ttlSeconds;
    if (fits && !key.mayHaveMoved()) {
      return before
          .renew(length)
          .thenCompose(
              renewed -> key.isThere().thenApply(there -> there ? renewed : lostBy(claim)));
    }
    return sessions
        .own(fits ? before.lease : length, delay)
        .thenCompose(
            next ->
                key.moveTo(next)
                    .thenCompose(
                        moved -> {
                          if (!moved) {
                            next.end();
                            return CompletableFuture.completedFuture(lostBy(claim));
                          }
                          next.letRun();
                          before.end();
                          if (claims.get(key.request.owner()) != claim) {
                            return undoMove(claim, key, next);
                          }
                          return CompletableFuture.completedFuture(
                              new Renewal.Renewed(new Validity(next.server.from(), length)));
                        }));
  }

  /** The key was moved when its hold was lost already: the name must not stay closed for that. */
  private CompletableFuture<Renewal> undoMove(Claim claim, ClaimKey key, Session next) {
    Duration delay = key.request.delay();
    if (delay.isZero()) {
      next.end();
      return CompletableFuture.completedFuture(Renewal.GONE);
    }
    return keepClosed(claim, key, delay).handle((was, failure) -> Renewal.GONE);
  }

  private static Renewal lostBy(Claim claim) {
    claim.letGo();
    claim.over();
    return Renewal.GONE;
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    Claim claim = claims.get(request.grant().claim().owner());
    ClaimKey key = claim == null ? null : claim.key();
    if (claim == null || key == null) {
      return inspector.release(request).thenApply(was -> was ? Release.RELEASED : Release.GONE);
    }
    claim.letGo();
    CompletableFuture<Boolean> done =
        request.keepClosed().isZero()
            ? key.delete().whenComplete((was, failure) -> overIf(claim, failure))
            : keepClosed(claim, key, request.keepClosed());
    return whileLeaving(claim.request.name(), done)
        .thenApply(was -> was ? Release.RELEASED : Release.GONE);
  }

  private <T> CompletableFuture<T> whileLeaving(String name, CompletableFuture<T> answer) {
    if (answer.isDone()) {
      return answer;
    }
    leaving.put(name, answer);
    return answer.whenComplete((done, failure) -> leaving.remove(name, answer));
  }

  private static void overIf(Claim claim, @Nullable Throwable failure) {
    if (failure == null) {
      claim.over();
    }
  }

  /** The name opens when a lease of its own has ended, to which the key is moved. */
  private CompletableFuture<Boolean> keepClosed(Claim claim, ClaimKey key, Duration closed) {
    Session before = key.session();
    return ServerLease.grant(etcd, ServerLease.seconds(closed))
        .thenCompose(key::leaveOn)
        .whenComplete(
            (was, failure) -> {
              if (failure == null) {
                forget(claim);
                if (!before.shared) {
                  before.end();
                }
              }
            });
  }

  // Views. --------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return inspector.forceRelease(name, number);
  }

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return inspector.inspect(name);
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return inspector.list(prefix, limit);
  }

  @Override
  public CompletableFuture<List<Finding>> diagnose() {
    return diagnostics.examine();
  }

  @Override
  public void close() {
    closed = true;
    claims.values().forEach(Claim::closed);
    try {
      sessions.close().get(CLOSING.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // The leases end by themselves.
    } finally {
      etcd.close();
    }
  }
}
