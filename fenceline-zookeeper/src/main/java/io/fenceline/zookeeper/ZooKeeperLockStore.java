package io.fenceline.zookeeper;

import io.fenceline.FencelineException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.settings.Durations;
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
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** One client's end of a ZooKeeper: its session, its claims, and what keeps both alive. */
final class ZooKeeperLockStore implements LockStore {
  private static final byte[] NOTHING = {};
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final long KEPT_LINES_NANOS = 60_000_000_000L;
  private static final int NODE_EXISTS = KeeperException.Code.NODEEXISTS.intValue();

  /** What nodes say; most claims of a client say the same. */
  private static final class NodeBytes {
    final NodeData data;
    final byte[] bytes;

    NodeBytes(NodeData data) {
      this.data = data;
      this.bytes = data.bytes();
    }
  }

  final StoreContext context;
  final Paths paths;
  final List<ACL> acl;
  final Sessions sessions;
  final Heartbeat heartbeat;
  final Claims claims = new Claims();
  final Lines lines = new Lines(this);

  /** Marks the nodes of this store: several may share one session. */
  final String clientTag;

  private final CuratorFramework client;
  private final boolean ownsClient;
  private final String description;
  private final Duration tick;
  private final Guarantees guarantees;
  private final Ephemerals ephemerals;
  private final Renewals renewals;
  private final Set<String> shards = ConcurrentHashMap.newKeySet();
  private volatile NodeBytes nodeBytes;
  private volatile boolean closed;

  // Guarded by claims.
  private Time.@Nullable Timer overdueTimer;

  ZooKeeperLockStore(StoreContext context, ZooKeeperStore settings, Connection connection) {
    this.context = context;
    this.client = connection.client();
    this.ownsClient = connection.isOurs();
    this.description = connection.description();
    this.paths = new Paths(connection.root());
    this.acl = connection.acl();
    this.clientTag = HexFormat.of().toHexDigits(context.random().nextLong(), 6);
    int timeoutMillis = connection.timeoutMillis();
    this.tick = settings.tick(timeoutMillis);
    this.sessions =
        new Sessions(
            client, context, description, connection.before(), tick.toNanos(), this::ended);
    this.ephemerals = new Ephemerals(this, connection.chroot() + paths.locks);
    this.renewals = new Renewals(this, ephemerals);
    this.heartbeat =
        new Heartbeat(
            context, sessions, paths.heartbeat, () -> !claims.isEmpty(), ephemerals::check);
    this.nodeBytes = new NodeBytes(new NodeData(context.client(), timeoutMillis, 0));
    this.guarantees = guarantees(longest(timeoutMillis));
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
        Duration.ofMillis(10),
        longestLease,
        "none: a majority has a grant on its disks before it is answered, unless servers run with"
            + " zookeeper.forceSync=no, which a client can't see",
        "none: grants are written to a majority; a holder that crashes keeps the name until its session"
            + " times out, which may be longer than its lease; a leader that answers but does not"
            + " ping its followers for most of a session's timeout may end a session sooner than its"
            + " holder believes",
        "none: sessions are timed by monotonic clocks",
        "numbers are transaction ids and start again when an ensemble is wiped, or go back when it is"
            + " restored from a snapshot: connect with tokenBase above the largest token that was seen");
  }

  /** What the longest lease is: what a session surely lives after each of its heartbeats. */
  static Duration longest(Duration timeout, Duration tick) {
    long nanos = timeout.toNanos();
    return Duration.ofNanos(nanos - nanos / Heartbeat.SHARE - nanos / SessionProof.DRIFT_SHARE)
        .minus(tick);
  }

  private Duration longest(int timeoutMillis) {
    return longest(Duration.ofMillis(timeoutMillis), tick);
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  @Override
  public void checkLease(Duration lease, Duration delay) {
    if (lease.compareTo(guarantees.longestLease()) > 0) {
      throw new io.fenceline.settings.InvalidSettingException(
          "lease",
          lease,
          ("a ZooKeeper session of %s proves itself for %s (session − a sixth − a tick of %s − drift):"
                  + " ask for a longer session, up to 20 ticks of the server")
              .formatted(
                  Durations.show(Duration.ofMillis(nodeBytes.data.sessionMillis())),
                  Durations.show(guarantees.longestLease()),
                  Durations.show(tick)));
    }
    guarantees.checkLease(lease, delay);
  }

  byte[] nodeData(Session session, Duration lease) {
    NodeBytes known = nodeBytes;
    int agreed = session.timeoutMillis();
    int timeoutMillis = agreed == 0 ? known.data.sessionMillis() : agreed;
    if (timeoutMillis != known.data.sessionMillis()
        || lease.toMillis() != known.data.leaseMillis()) {
      known = new NodeBytes(new NodeData(context.client(), timeoutMillis, lease.toMillis()));
      nodeBytes = known;
    }
    return known.bytes;
  }

  /** How long the data of a node is; it differs by a few digits. */
  int nodeDataBytes() {
    return nodeBytes.bytes.length;
  }

  // Claims. -------------------------------------------------------------------------------------

  @Override
  public void claim(ClaimRequest request, ClaimHandler handler) {
    if (closed) {
      handler.failed(new StoreUnavailableException(description, "The store is closed", null));
      return;
    }
    Claim claim = claims.find(request);
    if (claim == null) {
      claim = new Claim(this, request, handler);
      claims.add(claim);
    }
    watchForOverdue();
    claim.ask(handler);
  }

  /** One timer for all claims that wait for an answer. */
  private void watchForOverdue() {
    synchronized (claims) {
      if (overdueTimer == null && !closed) {
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
    lines.forgetBefore(claims.isEmpty() ? now : now - KEPT_LINES_NANOS);
    if (!claims.isEmpty()) {
      watchForOverdue();
    }
  }

  @Override
  public CompletableFuture<Void> withdraw(ClaimRequest request) {
    Claim claim = claims.find(request);
    if (claim == null) {
      return new OwnNode(this, request).purge().thenAccept(release -> {});
    }
    return claim.departure.withdraw();
  }

  @Override
  public CompletableFuture<Release> release(ReleaseRequest request) {
    ClaimRequest asked = request.grant().claim();
    Claim claim = claims.find(asked);
    return claim == null ? new OwnNode(this, asked).purge() : claim.departure.release();
  }

  /** Makes the folder of a name, unless it is known to be there; it then stays for ever. */
  void createShard(ZooKeeper zk, String name) {
    String shard = paths.shardOf(name);
    if (!shards.contains(shard)) {
      zk.create(
          shard,
          NOTHING,
          acl,
          CreateMode.PERSISTENT,
          (code, asked, ignored, made) -> {
            if (code == OK || code == NODE_EXISTS) {
              shards.add(shard);
            }
          },
          null);
    }
  }

  /** Makes what is above the folder of a name, as at the first connect; it was there once. */
  void createFolders(ZooKeeper zk, String name) {
    shards.remove(paths.shardOf(name));
    for (int end = paths.root.indexOf('/', 1); end > 0; end = paths.root.indexOf('/', end + 1)) {
      createFolder(zk, paths.root.substring(0, end), NOTHING);
    }
    createFolder(zk, paths.root, Connection.formatBytes());
    createFolder(zk, paths.heartbeat, NOTHING);
    createFolder(zk, paths.locks, NOTHING);
  }

  private void createFolder(ZooKeeper zk, String path, byte[] data) {
    AsyncCallback.StringCallback ignored = (code, asked, context, made) -> {};
    zk.create(path, data, acl, CreateMode.PERSISTENT, ignored, null);
  }

  /**
   * The creation of a claim's node was sent. If the store was closed before that, so was the
   * removal of what it leaves, and the node would stay as long as the session of the application.
   */
  void removeIfClosed(Claim claim) {
    if (closed) {
      claim.close();
      if (!ownsClient) {
        new NodeCleanup(client).start(List.of(claim));
      }
    }
  }

  /** The line of some places, by whatever tells their order. */
  CompletableFuture<Line> line(Session session, String parent, List<Place> places) {
    return Line.areSequencesSound(places)
        ? CompletableFuture.completedFuture(Line.bySequence(places))
        : ordered(session, parent, places);
  }

  /** The line by czxid, for when sequences do not tell the order; see {@link Line}. */
  CompletableFuture<Line> ordered(Session session, String parent, List<Place> places) {
    Calls calls = new Calls(session);
    return Inspection.all(places, place -> calls.read(parent + "/" + place.node()))
        .thenApply(
            nodes -> {
              Map<String, Long> czxids = new HashMap<>();
              for (int i = 0; i < nodes.size(); i++) {
                Calls.Node node = nodes.get(i);
                if (node != null) {
                  czxids.put(places.get(i).node(), node.stat().getCzxid());
                }
              }
              return Line.byCreation(places, czxids);
            });
  }

  // Renewal. ------------------------------------------------------------------------------------

  @Override
  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    return renewals.renew(requests);
  }

  /** What a session that is well has left at any time, of a lease. */
  long leastNanos(Session session, Duration lease) {
    return Math.min(lease.toNanos(), longest(session.timeoutMillis()).toNanos()) / 2;
  }

  private void ended(Session session) {
    claims.all().forEach(claim -> claim.sessionEnded(session));
    heartbeat.giveUpOn(session);
  }

  // Inspection. ---------------------------------------------------------------------------------

  private <T> CompletableFuture<T> inspecting(Function<Inspection, CompletableFuture<T>> request) {
    try {
      return request.apply(new Inspection(this, sessions.current()));
    } catch (StoreUnavailableException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    return inspecting(inspection -> inspection.forceRelease(name, number));
  }

  @Override
  public CompletableFuture<NameState> inspect(String name) {
    return inspecting(inspection -> inspection.inspect(name));
  }

  @Override
  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return inspecting(inspection -> inspection.list(prefix, limit));
  }

  @Override
  public CompletableFuture<List<Finding>> diagnose() {
    try {
      return new Diagnosis(this, context, sessions.current(), tick).run();
    } catch (StoreUnavailableException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  // The end. ------------------------------------------------------------------------------------

  /** What the runtime can act on: our own exceptions as they are, all others as "no answer". */
  RuntimeException meaning(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof FencelineException own
        ? own
        : new StoreUnavailableException(description, "A request failed: " + cause, cause);
  }

  @Override
  public void close() {
    synchronized (claims) {
      closed = true;
      if (overdueTimer != null) {
        overdueTimer.cancel();
      }
    }
    heartbeat.close();
    ephemerals.close();
    sessions.stop();
    claims.all().forEach(Claim::close);
    if (ownsClient) {
      client.close();
    } else {
      // The session goes on without us, and would keep the nodes.
      new NodeCleanup(client).start(List.copyOf(claims.all()));
      sessions.leave();
    }
  }
}
