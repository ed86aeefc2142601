package io.fenceline.zookeeper;

import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.settings.Durations;
import io.fenceline.settings.LeaseLimits;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import io.fenceline.zookeeper.claim.Claim;
import io.fenceline.zookeeper.claim.ClaimContext;
import io.fenceline.zookeeper.claim.Claims;
import io.fenceline.zookeeper.claim.FastPath;
import io.fenceline.zookeeper.claim.KnownClients;
import io.fenceline.zookeeper.claim.LateReads;
import io.fenceline.zookeeper.claim.NodeFactory;
import io.fenceline.zookeeper.claim.QueueReader;
import io.fenceline.zookeeper.diagnostics.Diagnostics;
import io.fenceline.zookeeper.diagnostics.Inspector;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.renewal.NodeCleanup;
import io.fenceline.zookeeper.renewal.Renewals;
import io.fenceline.zookeeper.renewal.SessionNodes;
import io.fenceline.zookeeper.session.Heartbeat;
import io.fenceline.zookeeper.session.Session;
import io.fenceline.zookeeper.session.Sessions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The locks of one client in ZooKeeper: its session, its claims, and what keeps both alive. */
final class ZooKeeperStore implements LockStore {
  private static final long KEPT_QUEUES_NANOS = 60_000_000_000L;

  final Sessions sessions;
  final Heartbeat heartbeat;
  final Claims claims = new Claims();

  private final StoreContext context;
  private final Connection connection;
  private final Layout layout;
  private final Duration tick;
  private final Guarantees guarantees;
  private final FastPath fastPath;
  private final ClaimContext claimContext;
  private final SessionNodes sessionNodes;
  private final Renewals renewals;

  // Guarded by claims.
  private Time.@Nullable Timer overdueTimer;

  ZooKeeperStore(StoreContext context, ZooKeeperStores settings, Connection connection) {
    this.context = context;
    this.connection = connection;
    this.layout = new Layout(connection.root());
    int timeoutMillis = connection.timeoutMillis();
    this.tick = settings.tick(timeoutMillis);
    this.guarantees = guarantees(Heartbeat.longestLease(Duration.ofMillis(timeoutMillis), tick));
    this.sessions =
        new Sessions(
            connection.client(),
            context,
            connection.description(),
            connection.before(),
            tick,
            this::ended);
    this.fastPath = new FastPath(settings.tuning().hasFastPath());
    String clientTag = HexFormat.of().toHexDigits(context.random().nextLong(), 6);
    this.sessionNodes =
        new SessionNodes(context, sessions, layout, claims, clientTag, connection.chroot());
    this.heartbeat =
        new Heartbeat(
            context, sessions, layout.heartbeat, () -> !claims.isEmpty(), sessionNodes::check);
    this.claimContext =
        new ClaimContext(
            context,
            sessions,
            heartbeat,
            new NodeFactory(layout, connection.acl(), context.client(), clientTag, timeoutMillis),
            fastPath,
            new QueueReader(context, sessions),
            claims,
            new KnownClients(),
            new LateReads(context),
            settings.tuning().shortQueue());
    this.renewals = new Renewals(claimContext, sessionNodes);
  }

  void start() {
    sessions.start();
    heartbeat.start(sessions.current());
  }

  // What it is. ---------------------------------------------------------------------------------

  static Guarantees guarantees(Duration longestLease) {
    return new Guarantees(
        "zookeeper",
        EnumSet.of(
            Guarantee.LINEARIZABLE, Guarantee.FAIR, Guarantee.SHARED_MODE, Guarantee.PERMITS),
        Certainty.YES,
        new LeaseLimits(Duration.ofMillis(10), longestLease),
        "none: a majority has a grant on its disks before it is answered, unless servers run with"
            + " zookeeper.forceSync=no, which a client can't see",
        "none: grants are written to a majority; a holder that crashes keeps the name until its session"
            + " times out, which may be longer than its lease; a leader that answers but does not"
            + " ping its followers for most of a session's timeout, or whose packets reach a follower"
            + " more than half a tick late while the follower's are cut off, may end a session sooner"
            + " than its holder believes",
        "none: sessions are timed by monotonic clocks",
        "numbers are transaction ids and start again when an ensemble is wiped, or go back when it is"
            + " restored from a snapshot: connect with tokenBase above the largest token that was seen");
  }

  @Override
  public String description() {
    return connection.description();
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  @Override
  public void checkLease(Duration lease, Duration delay) {
    if (lease.compareTo(guarantees.leases().longest()) > 0) {
      throw new io.fenceline.settings.InvalidSettingException(
          "lease",
          lease,
          ("a ZooKeeper session of %s can keep leases of up to %s (session − a sixth − a tick of %s − drift);"
                  + " ask for a longer session, up to 20 ticks of the server")
              .formatted(
                  Durations.show(claimContext.nodes().sessionTimeout()),
                  Durations.show(guarantees.leases().longest()),
                  Durations.show(tick)));
    }
    guarantees.checkLease(lease, delay);
  }

  // Claims. -------------------------------------------------------------------------------------

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    if (claims.areClosed()) {
      handler.failed(sessions.unavailable("The store is closed"));
      return;
    }
    Claim claim = claims.find(request);
    if (claim == null) {
      claim = new Claim(claimContext, request, handler);
      claims.add(claim);
    }
    watchForOverdue();
    claim.ask(handler);
  }

  /** One timer for all claims that wait for an answer. */
  private void watchForOverdue() {
    synchronized (claims) {
      if (overdueTimer == null && !claims.areClosed()) {
        overdueTimer =
            context
                .time()
                .schedule(
                    context.operationTimeout().toNanos() / 2,
                    () -> context.time().lane(Lane.WORK).execute(this::failOverdue));
      }
    }
  }

  private void failOverdue() {
    synchronized (claims) {
      overdueTimer = null;
    }
    long now = context.time().nanos();
    long limit = context.operationTimeout().toNanos();
    claims.all().forEach(claim -> claim.checkOverdue(now, limit));
    claimContext.queues().forgetBefore(claims.isEmpty() ? now : now - KEPT_QUEUES_NANOS);
    if (!claims.isEmpty()) {
      watchForOverdue();
    }
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    Claim claim = claims.find(request);
    if (claim == null) {
      return Claim.purge(request, claimContext).thenAccept(release -> {});
    }
    return claim.withdraw();
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    ClaimRequest asked = request.grant().claim();
    Claim claim = claims.find(asked);
    return claim == null ? Claim.purge(asked, claimContext) : claim.release();
  }

  // Renewal. ------------------------------------------------------------------------------------

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    return renewals.renew(requests);
  }

  private void ended(Session session) {
    claims.all().forEach(claim -> claim.sessionEnded(session));
    fastPath.forget(session);
    heartbeat.giveUpOn(session);
  }

  // Inspection. ---------------------------------------------------------------------------------

  private <T> CompletableFuture<T> inspecting(Function<Inspector, CompletableFuture<T>> request) {
    try {
      return request.apply(new Inspector(layout, sessions.current()));
    } catch (StoreUnavailableException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return inspecting(inspector -> inspector.forceRelease(name, number));
  }

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return inspecting(inspector -> inspector.inspect(name));
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return inspecting(inspector -> inspector.list(prefix, limit));
  }

  @Override
  public CompletableFuture<List<Finding>> diagnose() {
    try {
      return new Diagnostics(context, sessions.current(), layout, connection.acl(), tick).run();
    } catch (StoreUnavailableException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  // The end. ------------------------------------------------------------------------------------

  @Override
  public void close() {
    synchronized (claims) {
      claims.close(claim -> cleanUp(List.of(claim)));
      if (overdueTimer != null) {
        overdueTimer.cancel();
      }
    }
    heartbeat.close();
    sessionNodes.close();
    sessions.stop();
    claims.all().forEach(Claim::close);
    cleanUp(List.copyOf(claims.all()));
    if (connection.isOurs()) {
      connection.client().close();
    } else {
      fastPath.close();
    }
  }

  /** A session that goes on without us would keep the nodes. */
  private void cleanUp(List<Claim> left) {
    if (!connection.isOurs()) {
      new NodeCleanup(connection.client()).start(left);
    }
  }
}
