package io.fenceline.zookeeper.claim;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Refusals;
import io.fenceline.spi.Release;
import io.fenceline.time.Lane;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import io.fenceline.zookeeper.claim.ClaimRequests.Created;
import io.fenceline.zookeeper.claim.ClaimRequests.Watched;
import io.fenceline.zookeeper.claim.ClaimState.Asking;
import io.fenceline.zookeeper.claim.ClaimState.Granted;
import io.fenceline.zookeeper.claim.ClaimState.Leaving;
import io.fenceline.zookeeper.claim.ClaimState.New;
import io.fenceline.zookeeper.claim.ClaimState.Over;
import io.fenceline.zookeeper.claim.ClaimState.OwnNode;
import io.fenceline.zookeeper.claim.ClaimState.Unknown;
import io.fenceline.zookeeper.claim.ClaimState.Waiting;
import io.fenceline.zookeeper.claim.QueueReader.Listed;
import io.fenceline.zookeeper.layout.NodeData;
import io.fenceline.zookeeper.layout.QueueNode;
import io.fenceline.zookeeper.session.Requests;
import io.fenceline.zookeeper.session.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One claim, from the first request until it is known to have no node: a state machine to be read
 * from top to bottom, in the order of {@link ClaimState}.
 *
 * <p>ZooKeeper processes the requests of one session in order, so one round trip creates the node
 * and lists the queue; where nobody else uses the name, the {@link FastPath} does without the list.
 * Answers and events arrive on ZooKeeper's event thread. State changes under the claim's monitor;
 * requests are sent, and the handler is told, outside of it.
 */
public final class Claim implements Session.NodeWatcher {
  /*
   * What would break it, and why it can't:
   *
   * - Two holders. The queue is listed after the own node is in it: a later claim sees this one, and
   *   this one sees every earlier claim. Claims ahead only ever leave the queue, so "nobody is in my
   *   way" stays true. The own node exists as long as its session lives, and the hold is believed for
   *   less time than that (SessionProof).
   * - A node that is taken for one's own, but is of a session that has ended: a claim remembers its
   *   session, and ends with it. A node that is found again is adopted only if ZooKeeper names the
   *   living session as its owner; otherwise it is deleted.
   * - A node that the claim does not know of: after a lost reply the claim is Unknown, and creates
   *   nothing before it has listed the queue after a sync. By then the lost request has been processed,
   *   or never will be: ZooKeeper refuses requests of a session that arrive on a connection that the
   *   session has left. Nor does a paused thread send it later: an attempt that was given up sends
   *   nothing. The nodes of a dead session go with it. SessionNodes finds the rest.
   * - A waiter that is never woken: a watch is set by a read of the node, which also tells if the node
   *   is gone already; ZooKeeper's client sets watches again after a reconnect; and the queue is listed
   *   once a lease in any case.
   * - An event that is wrongly taken for a grant. The deletion of a node says only that it is gone, and
   *   counts as a grant only if nobody else was ahead. Otherwise the queue is listed, which decides. In
   *   a long queue a holder changes its node and deletes it in one transaction: these two events
   *   together say that it held the name, so that everyone ahead of it was gone. Session knows when
   *   events can be relied on.
   * - A grant after the own node was removed. The next waiter no longer waits for this claim then, and
   *   the same event would grant both. A list shows the own node. An event grants without a look at the
   *   queue, so there the own node is watched, too. Events of one connection arrive in the order of the
   *   changes, so the removal of the own node is heard first. And an event grants only if the own node
   *   is known to be watched, and the queue was listed on the connection that the event came by.
   * - A node that is created after its store was closed, in a session that goes on: after sending a
   *   creation, the claim checks whether the store was closed, and if so removes the node itself.
   */
  private static final int MAX_TRIES = 5;
  private static final int POLL_SHARE = 4;

  /** The number of no attempt: no answer belongs to it. */
  private static final int STALE = 0;

  final ClaimRequest request;
  private final ClaimContext context;
  private final ClaimRequests requests;
  private volatile ClaimHandler handler;

  // Guarded by this. Only answers to the last attempt count.
  private ClaimState state = new New();
  private int attempt = STALE;
  private int queueLength; // When the queue was last listed.
  private boolean isWithdrawn;
  private final List<CompletableFuture<Void>> withdrawals = new ArrayList<>(0);

  public Claim(ClaimContext context, ClaimRequest request, ClaimHandler handler) {
    this.context = context;
    this.request = request;
    this.handler = handler;
    this.requests = new ClaimRequests(request, context);
  }

  String tag() {
    return requests.tag;
  }

  /** Returns the folder that the node is in. */
  public String folder() {
    return requests.folder;
  }

  // Asking. -------------------------------------------------------------------------------------

  /** Asks for the name, for the first time or again; the last asker gets the answer. */
  public void ask(ClaimHandler asker) {
    handler = asker;
    ClaimState now;
    int mine;
    synchronized (this) {
      now = state;
      mine = attempt;
      if (now instanceof Waiting waiting) {
        waiting.isTold = false;
      }
    }
    try {
      if (now instanceof New) {
        create(now, 0);
      } else if (now instanceof Unknown) {
        recover(now);
      } else if (now instanceof Waiting waiting) {
        look(waiting, true);
      } else if (now instanceof Granted granted) {
        tell(granted, context.store().time().now()); // A repeat renews the lease.
      }
    } catch (StoreUnavailableException e) {
      if (now instanceof Waiting) {
        fail(mine, e);
      } else {
        handler.failed(e); // Nothing was sent, so the state stays as it was.
      }
    }
  }

  /** Starts an attempt, if the claim is still in the state that the caller has seen. */
  private synchronized int begin(ClaimState from, ClaimState next) {
    if (state != from) {
      return STALE;
    }
    state = next;
    return ++attempt;
  }

  /** Creates the node, and lists the queue in the same round trip unless the fast path applies. */
  private void create(ClaimState from, int tries) {
    Session on = context.sessions().connected();
    int mine = begin(from, new Asking(on, context.store().time().now(), null));
    if (mine == STALE) {
      return;
    }
    FastPath.Attempt fast = context.fastPath().attempt(on, requests.folder, request.mode());
    if (!sendCreate(mine, on, tries, fast)) {
      return;
    }
    if (!fast.skipsList()) {
      list(mine, on);
    }
    context.claims().removeIfClosed(this);
  }

  /**
   * Sends the creation, unless the attempt was given up meanwhile: a search for its node may then
   * be under way already. Under the monitor, so that such a search is sent after the creation;
   * ZooKeeper's client only queues the request.
   */
  private boolean sendCreate(int mine, Session on, int tries, FastPath.Attempt fast) {
    Moment sent = context.store().time().now();
    synchronized (this) {
      if (attempt == mine) {
        requests.create(on, tries, sent, created -> onCreated(mine, on, tries, fast, created));
        return true;
      }
    }
    fast.failed();
    return false;
  }

  private void onCreated(int mine, Session on, int tries, FastPath.Attempt fast, Created created) {
    if (created instanceof Created.Made made) {
      boolean isAlone = fast.created(QueueNode.sequenceOf(made.path()));
      setNode(mine, new OwnNode(made.path(), made.czxid(), fast));
      if (fast.skipsList() && isAlone) {
        onQueue(mine, on, null, on.connection());
      } else if (fast.skipsList()) {
        list(mine, on);
      }
      return;
    }
    fast.failed();
    if (created instanceof Created.NoFolder missing) {
      if (tries < MAX_TRIES) {
        createAgain(mine, tries + 1);
      } else {
        fail(mine, missing.cause());
      }
    } else if (created instanceof Created.Failed failed) {
      fail(mine, failed.cause());
    }
  }

  private synchronized @Nullable Asking setNode(int mine, @Nullable OwnNode node) {
    if (attempt != mine || !(state instanceof Asking asking)) {
      return null;
    }
    Asking next = asking.withNode(node);
    state = next;
    return next;
  }

  private void createAgain(int mine, int tries) {
    Asking asking = setNode(mine, null);
    if (asking == null) {
      return;
    }
    try {
      create(asking, tries);
    } catch (StoreUnavailableException e) {
      fail(mine, e);
    }
  }

  /** Looks for the claim's node, and goes on with what it finds. */
  private void recover(ClaimState from) {
    Session on = context.sessions().connected();
    int mine = begin(from, new Asking(on, context.store().time().now(), from.node()));
    if (mine == STALE) {
      return;
    }
    int connection = on.connection();
    requests
        .find(on)
        .whenComplete(
            (found, failure) -> {
              if (failure != null) {
                fail(mine, context.sessions().meaning(failure));
              } else if (found.path() == null || found.stat() == null) {
                createAgain(mine, 0);
              } else {
                setNode(mine, new OwnNode(found.path(), found.stat().getCzxid(), null));
                context
                    .queues()
                    .order(
                        on,
                        requests.folder,
                        connection,
                        found.queue(),
                        listed -> onListed(mine, on, listed));
              }
            });
  }

  // In the queue. -------------------------------------------------------------------------------

  private void list(int mine, Session on) {
    context.queues().list(on, requests.folder, listed -> onListed(mine, on, listed));
  }

  private void onListed(int mine, Session on, Listed listed) {
    if (listed instanceof Listed.Queue known) {
      onQueue(mine, on, known.queue(), known.connection());
    } else if (listed instanceof Listed.Failed failed) {
      fail(mine, failed.cause());
    }
  }

  /**
   * Decides by the queue, listed after the node was in it.
   *
   * @param queue null if it is proven that nobody is ahead
   * @param connection the connection that it was listed on
   */
  private void onQueue(int mine, Session on, @Nullable LockQueue queue, int connection) {
    List<QueueNode> ahead;
    QueueNode stranger = null;
    boolean isUnwanted;
    Granted granted = null;
    Waiting.Watches watches = null;
    synchronized (this) {
      OwnNode own = state.node();
      Moment sent = sentAt();
      if (attempt != mine || own == null || sent == null) {
        return;
      }
      isUnwanted = isWithdrawn;
      ahead = queue == null ? List.of() : queue.aheadOf(own.name());
      if (ahead != null && !isUnwanted) {
        queueLength = queue == null ? 1 : queue.nodes().size();
        stranger = queue == null ? null : queue.stranger(request.mode(), ahead);
        if (stranger == null && LockQueue.fits(request.mode(), ahead)) {
          granted = grant(on, own, sent);
        } else if (stranger == null && request.waits()) {
          watches = waitBehind(ahead, on, own, sent, connection);
        }
      }
    }
    if (ahead == null) {
      fail(mine, unavailable("The node of a claim was removed by someone else"));
    } else if (isUnwanted) {
      leave(() -> {});
    } else if (stranger != null) {
      String inUse = stranger.mode().family();
      String claimed = request.mode().family();
      leave(() -> handler.failed(Refusals.otherKind(request.name(), claimed, inUse)));
    } else if (granted != null) {
      tell(granted, granted.from);
    } else if (watches != null) {
      watch(mine, on, ahead.get(0), watches);
    } else {
      CompletableFuture<Obstacle> seen =
          requests.read(on, ahead.get(0)).handle((found, failure) -> obstacle(found));
      leave(() -> handler.refused(seen.join())); // This read is answered before the deletion.
    }
  }

  /** Returns when the last attempt was sent; called under the monitor. */
  private @Nullable Moment sentAt() {
    if (state instanceof Asking asking) {
      return asking.sent();
    }
    return state instanceof Waiting waiting ? waiting.sent : null;
  }

  // Waiting. ------------------------------------------------------------------------------------

  /** Begins to wait, or goes on waiting; called under the monitor. */
  private Waiting.Watches waitBehind(
      List<QueueNode> ahead, Session on, OwnNode own, Moment sent, int connection) {
    Waiting waiting = state instanceof Waiting already ? already : new Waiting(on, own, sent);
    state = waiting;
    Waiting.Watches watches =
        waiting.follow(request.mode(), ahead, connection, context.shortQueue());
    if (watches.predecessors().isEmpty()) {
      waiting.isUnanswered = false;
    }
    if (waiting.poll != null) {
      waiting.poll.cancel();
    }
    Time time = context.store().time();
    long lease = request.lease().toNanos();
    long delay = lease + (long) (context.store().random().nextDouble() * lease / 10);
    waiting.poll = time.schedule(delay, () -> time.lane(Lane.WORK).execute(this::poll));
    return watches;
  }

  /** Watches those whose leaving can make the claim fit, and says who has the name. */
  private void watch(int mine, Session on, QueueNode head, Waiting.Watches watches) {
    String own = ownPath();
    NodeData met = watches.isHeadNew() ? requests.known(head) : null;
    Obstacle said = met == null ? null : obstacle(met, null);
    if (watches.own() && own != null) {
      on.register(this, own);
      requests.watch(on, own, watched -> onWatched(mine, on, own, false, null, watched));
    }
    for (QueueNode node : watches.predecessors()) {
      String path = requests.path(node);
      boolean isHead = node.equals(head);
      on.register(this, path);
      Consumer<Watched> answered = watched -> onWatched(mine, on, path, isHead, said, watched);
      NodeData known = watches.handOvers() ? null : requests.known(node);
      if (known != null) {
        requests.watchDeletion(on, path, known, answered);
      } else {
        requests.watchDeletion(on, path);
        requests.watch(
            on,
            path,
            watched -> {
              if (watched instanceof Watched.There there) {
                requests.remember(node, there.node().data());
              }
              answered.accept(watched);
            });
      }
    }
    if (watches.isHeadNew() && said == null) {
      readHead(mine, on, head);
    } else if (watches.isHeadNew()) {
      context.lateReads().add(this);
    }
    if (watches.predecessors().isEmpty()) {
      repeatObstacle(mine, said);
    }
  }

  private synchronized @Nullable String ownPath() {
    OwnNode own = state.node();
    return own == null ? null : own.path();
  }

  /**
   * A watch is set, or the node is gone.
   *
   * @param said what is known already of the head of the queue; null if nothing
   */
  private void onWatched(
      int mine, Session on, String path, boolean isHead, @Nullable Obstacle said, Watched watched) {
    if (watched instanceof Watched.There there) {
      if (path.equals(ownPath())) {
        onOwnWatched();
      } else {
        onBlocked(mine, isHead ? obstacle(there.node()) : said);
      }
    } else if (watched instanceof Watched.Gone) {
      on.unregister(this, path);
      deleted(path, false);
    } else if (watched instanceof Watched.Failed failed) {
      fail(mine, failed.cause());
    }
  }

  private synchronized void onOwnWatched() {
    if (state instanceof Waiting waiting) {
      waiting.isOwnWatched = true;
    }
  }

  private static Obstacle obstacle(Requests.@Nullable Node found) {
    return found == null ? Obstacle.UNKNOWN : obstacle(found.data(), found.stat().getCzxid());
  }

  private static Obstacle obstacle(NodeData data, @Nullable Long number) {
    return new Obstacle(data.client().label(), number, Duration.ofMillis(data.leaseMillis()));
  }

  /** Reads who has the name, if the claim still waits and does not know it. */
  void readHead() {
    Session on;
    QueueNode head;
    int mine;
    synchronized (this) {
      if (!(state instanceof Waiting waiting) || isWithdrawn || !waiting.isHeadUnread()) {
        return;
      }
      on = waiting.session();
      head = waiting.head();
      mine = attempt;
    }
    if (head != null) {
      readHead(mine, on, head);
    }
  }

  private void readHead(int mine, Session on, QueueNode head) {
    requests.read(on, head).thenAccept(found -> onHeadRead(mine, head, found));
  }

  /**
   * The head may have left since it was listed; then the obstacle that was known before is kept.
   */
  private void onHeadRead(int mine, QueueNode head, Requests.@Nullable Node found) {
    if (found != null) {
      requests.remember(head, found.data());
    }
    boolean isKnown;
    synchronized (this) {
      isKnown = state instanceof Waiting waiting && waiting.isTold;
    }
    onBlocked(mine, found == null && isKnown ? null : obstacle(found));
  }

  /** Nobody else has to be watched; tells who is in the way if that is new, or was asked again. */
  private void repeatObstacle(int mine, @Nullable Obstacle said) {
    Obstacle known = said;
    synchronized (this) {
      if (!(state instanceof Waiting waiting) || (waiting.isTold && said == null)) {
        return;
      }
      known = said == null ? waiting.obstacle : said;
    }
    onBlocked(mine, known == null ? Obstacle.UNKNOWN : known);
  }

  /** A predecessor is still there; the handler is told when it is known who holds the name. */
  private void onBlocked(int mine, @Nullable Obstacle found) {
    synchronized (this) {
      if (attempt != mine || !(state instanceof Waiting waiting)) {
        return;
      }
      waiting.isUnanswered = false;
      if (found == null || (waiting.isTold && found.equals(waiting.obstacle))) {
        return;
      }
      waiting.isTold = true;
      waiting.obstacle = found;
    }
    handler.waiting(found);
  }

  /** The data of a node were changed: of a predecessor, which means nothing yet, or of the own. */
  @Override
  public void changed(String path) {
    int mine;
    synchronized (this) {
      if (!(state instanceof Waiting waiting)
          || isWithdrawn
          || !path.equals(waiting.node().path())) {
        return;
      }
      mine = attempt;
    }
    failTouched(mine);
  }

  /** No event grants the claim any more, until it is known to be queued again. */
  private void failTouched(int mine) {
    fail(mine, unavailable("The node of a claim was touched by someone else"));
  }

  /** A predecessor has left, or the own node is gone. */
  @Override
  public void deleted(String path, boolean handedOver) {
    int mine;
    boolean isOwn;
    Granted granted = null;
    synchronized (this) {
      if (!(state instanceof Waiting waiting) || isWithdrawn) {
        return;
      }
      mine = attempt;
      isOwn = path.equals(waiting.node().path());
      if (!isOwn) {
        String gone = path.substring(requests.folder.length() + 1);
        if (waiting.isGrantedWithout(gone, request.mode(), handedOver)) {
          // No request led to this event, so the lease counts from now; the session keeps the node.
          granted = grant(waiting.session(), waiting.node(), null);
        }
      }
    }
    if (isOwn) {
      failTouched(mine);
    } else if (granted != null) {
      tell(granted, granted.from);
    } else {
      lookOrFail(mine, true);
    }
  }

  /** Checks whether an event was missed. */
  private void poll() {
    int mine;
    synchronized (this) {
      if (!(state instanceof Waiting waiting) || waiting.isUnanswered) {
        return;
      }
      mine = attempt;
    }
    lookOrFail(mine, false);
  }

  private void lookOrFail(int mine, boolean isChanged) {
    ClaimState now;
    synchronized (this) {
      now = state;
    }
    try {
      if (now instanceof Waiting waiting) {
        look(waiting, isChanged);
      }
    } catch (StoreUnavailableException e) {
      fail(mine, e);
    }
  }

  /**
   * Lists the queue again.
   *
   * @param isChanged whether something is known to have changed; otherwise it is a poll
   */
  private void look(Waiting waiting, boolean isChanged) {
    Session on = waiting.session();
    if (on.hasEnded()) {
      throw unavailable("The session has ended");
    }
    int mine;
    synchronized (this) {
      mine = begin(waiting, waiting);
      if (mine == STALE) {
        return;
      }
      waiting.sent = context.store().time().now();
      waiting.isUnanswered = true;
    }
    if (isChanged) {
      list(mine, on);
    } else {
      // The list of another waiter is good enough.
      long maxAge = request.lease().toNanos() / POLL_SHARE;
      context.queues().poll(on, requests.folder, maxAge, listed -> onListed(mine, on, listed));
    }
  }

  // Granted. ------------------------------------------------------------------------------------

  /**
   * Grants the claim; called under the monitor.
   *
   * @param from when the lease begins, no later than the request was sent whose answer grants it;
   *     null for now
   */
  private Granted grant(Session on, OwnNode own, @Nullable Moment from) {
    stopWaiting();
    Moment now = context.store().time().now();
    Granted granted = new Granted(on, own, from == null ? now : from, now.nanos());
    state = granted;
    return granted;
  }

  /** Called under the monitor. */
  private void stopWaiting() {
    if (state instanceof Waiting waiting) {
      waiting.stop(this, requests.folder);
    }
  }

  /**
   * Tells the handler of the grant once the session is proven to live for long enough. If the grant
   * is gone by then, the handler has been told of that instead.
   */
  private void tell(Granted granted, Moment from) {
    Session on = granted.session();
    // With less than half of what can be proven, the holder would renew at once.
    context
        .heartbeat()
        .whenProven(on, on.leastNanos(request.lease()), () -> tellNow(granted, from));
  }

  private void tellNow(Granted granted, Moment from) {
    Session on = granted.session();
    synchronized (this) {
      if (state != granted || on.hasEnded()) {
        return;
      }
      granted.telling++;
    }
    boolean isGone;
    try {
      handler.granted(new Grant(granted.node().czxid(), on.validity(from, request.lease())));
    } finally {
      synchronized (this) {
        granted.telling--;
        granted.isTold = true;
        isGone = granted.isGoneMeanwhile && granted.telling == 0;
      }
    }
    if (isGone) {
      handler.gone();
    }
  }

  /** Returns whether the claim is granted, in this session. */
  public synchronized boolean isGrantedOn(Session on) {
    return state instanceof Granted granted && granted.session() == on && !on.hasEnded();
  }

  /** The node of a granted claim. */
  public record HeldNode(String path, long number) {}

  /** Returns the claim's node; null if it is not granted in this session. */
  public synchronized @Nullable HeldNode heldNodeOn(Session on) {
    OwnNode own = isGrantedOn(on) ? state.node() : null;
    return own == null ? null : new HeldNode(own.path(), own.czxid());
  }

  /** Returns the node's name if a list of that time must show it; null if it need not. */
  public synchronized @Nullable String nodeSeenBefore(long nanos) {
    return state instanceof Granted granted && granted.seenNanos - nanos < 0
        ? granted.node().name()
        : null;
  }

  /** Ends a grant that a renewal has found to be gone; the renewal tells the holder. */
  public synchronized void end() {
    if (state instanceof Granted) {
      state = new Over();
      context.claims().remove(this);
    }
  }

  /** The node has gone, unasked for: tells the holder. */
  public void gone() {
    boolean isTold;
    synchronized (this) {
      if (!(state instanceof Granted granted)) {
        return;
      }
      end();
      granted.isGoneMeanwhile = granted.telling > 0;
      if (granted.isGoneMeanwhile) {
        return; // The thread that is telling of the grant will tell of this next.
      }
      isTold = granted.isTold;
    }
    if (isTold) {
      handler.gone();
    } else {
      handler.failed(unavailable("The node of a claim was removed before it was granted"));
    }
  }

  // Unknown outcomes. ---------------------------------------------------------------------------

  /** The attempt has failed: it is unknown whether there is a node, and whether it is our own. */
  private void fail(int mine, RuntimeException cause) {
    boolean isHeard;
    synchronized (this) {
      if (attempt != mine || !(state instanceof Asking || state instanceof Waiting)) {
        return;
      }
      attempt++;
      stopWaiting();
      state = new Unknown(state.session(), state.node());
      isHeard = !isWithdrawn;
    }
    endWithdrawals(cause);
    if (isHeard) {
      handler.failed(cause);
    }
  }

  /** Fails if the answer is overdue. */
  public void checkOverdue(long nowNanos, long limitNanos) {
    int mine;
    synchronized (this) {
      Moment sent = sentAt();
      boolean isAnswered = state instanceof Waiting waiting && !waiting.isUnanswered;
      if (sent == null || isAnswered || nowNanos - sent.nanos() < limitNanos) {
        return;
      }
      mine = attempt;
    }
    fail(mine, unavailable("A claim of lock '" + request.name() + "' was not answered"));
  }

  private StoreUnavailableException unavailable(String what) {
    return context.sessions().unavailable(what);
  }

  // Leaving. ------------------------------------------------------------------------------------

  /** Makes sure that the claim has no node. */
  public CompletableFuture<Void> withdraw() {
    synchronized (this) {
      isWithdrawn = true;
      if (state instanceof Over) {
        return CompletableFuture.completedFuture(null);
      }
      if (state instanceof Asking) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        withdrawals.add(done); // The next answer ends it.
        return done;
      }
    }
    return remove(false).thenAccept(release -> {});
  }

  /** Releases the grant; in a long queue, hands over to a waiter that does not list the queue. */
  public CompletableFuture<Release> release() {
    boolean handsOver;
    synchronized (this) {
      handsOver =
          state instanceof Granted
              && queueLength > context.shortQueue() + 1
              && request.mode() instanceof Mode.Exclusive;
    }
    return remove(handsOver);
  }

  /** Leaves the queue, then runs a task; completes withdrawals that came meanwhile. */
  private void leave(Runnable then) {
    remove(false)
        .whenComplete(
            (release, failure) -> {
              boolean isHeard;
              synchronized (this) {
                isHeard = !isWithdrawn;
              }
              endWithdrawals(failure);
              if (isHeard && failure == null) {
                then.run();
              } else if (isHeard) {
                handler.failed(context.sessions().meaning(failure));
              }
            });
  }

  private void endWithdrawals(@Nullable Throwable failure) {
    List<CompletableFuture<Void>> told;
    synchronized (this) {
      told = List.copyOf(withdrawals);
      withdrawals.clear();
    }
    for (CompletableFuture<Void> withdrawal : told) {
      if (failure == null) {
        withdrawal.complete(null);
      } else {
        withdrawal.completeExceptionally(failure);
      }
    }
  }

  /** Deletes the node, or all nodes of the owner if the node is not known. */
  private CompletableFuture<Release> remove(boolean handsOver) {
    ClaimState before;
    synchronized (this) {
      before = state;
      stopWaiting();
      state = new Leaving(before.session(), before.node());
      attempt++;
    }
    OwnNode own = before.node();
    CompletableFuture<Release> removal;
    if (before instanceof New) {
      removal = CompletableFuture.completedFuture(Release.GONE);
    } else {
      removal = own == null ? requests.purge() : requests.delete(own.path(), handsOver);
    }
    return removal.whenComplete(
        (release, failure) -> {
          if (failure == null && before instanceof Granted && own != null && own.fast() != null) {
            own.fast().released();
          }
          onRemoved(failure == null);
        });
  }

  /**
   * Notes that the deletion was answered, or has failed.
   *
   * @param isSure whether the node is known to be gone
   */
  private void onRemoved(boolean isSure) {
    synchronized (this) {
      state = isSure ? new Over() : new Unknown(state.session(), state.node());
    }
    if (isSure) {
      context.claims().remove(this);
    }
  }

  // The end of the session, or of the store. ----------------------------------------------------

  /** The session has ended, and the node with it. */
  public void sessionEnded(Session old) {
    int mine;
    synchronized (this) {
      if (state.session() != old) {
        return;
      }
      mine = attempt;
    }
    gone();
    fail(mine, unavailable("The session ended while lock '" + request.name() + "' was waited for"));
  }

  /** The store is closed: tells the handler, if it waits for an answer or the news of a grant. */
  public void close() {
    int mine;
    boolean isUntold;
    synchronized (this) {
      mine = attempt;
      isUntold = state instanceof Granted granted && granted.telling == 0 && !granted.isTold;
    }
    fail(mine, unavailable("The store was closed"));
    if (isUntold) {
      handler.failed(unavailable("The store was closed"));
    }
  }

  /** Returns the session that a node of this claim may live in; null if there is no node. */
  public synchronized @Nullable Session nodesSession() {
    return state.session();
  }

  /** Deletes all nodes of this claim through a session, whatever its state. */
  public CompletableFuture<Release> purge(Session on) {
    return requests.purge(on);
  }

  /** Deletes all nodes of a claim that this store does not know any more. */
  public static CompletableFuture<Release> purge(ClaimRequest request, ClaimContext context) {
    return new ClaimRequests(request, context).purge();
  }
}
