package io.fenceline.zookeeper;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Refusals;
import io.fenceline.spi.Release;
import io.fenceline.time.Moment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One claim, from the asking until it is known that there is no node of it.
 *
 * <p>Requests of one session are done and answered in order, so the node is created and the line
 * behind it listed in one round trip; where nobody else uses the name, its number alone tells that
 * it is the only one ({@link Trail}). Answers arrive on ZooKeeper's event thread.
 */
final class Claim {
  /*
   * What would break it, and why it can't:
   *
   * - Two holders. The line is listed after our node is in it, so whoever comes later sees us, and
   *   whoever is ahead is seen by us. A claim only ever leaves the line, so "nobody in my way" stays
   *   true. Our own node is there for as long as the session lives, and what we believe ends sooner
   *   (SessionProof).
   * - A node that we think is ours, of a session that has ended: a claim remembers its session, and
   *   ends with it. A node that is found again is adopted only if ZooKeeper names the living session
   *   as its owner; otherwise it is deleted.
   * - A node that we do not know of: after a lost reply the claim is UNKNOWN, and nothing is created
   *   before the line was listed after a sync. By then the lost request has been done or never will
   *   be: ZooKeeper refuses requests of a session that arrive by a connection it has left. What a
   *   dead session still leaves goes with it. Ephemerals finds the rest.
   * - A waiter that is never woken: a watch is set by a read of the node, which says if it is gone
   *   already; ZooKeeper's client sets watches again after a reconnect; and once a lease the line is
   *   listed all the same.
   * - A grant by an event that is not one. The deletion of a node says only that it is gone, and
   *   counts as a grant only if nobody else was ahead. A holder that had waited itself changes its
   *   node while it deletes it, in one transaction: those two events say that it had the name, so
   *   everyone ahead of it was gone. Session knows when events can be relied on.
   * - A node that is made after its store was closed, in a session that goes on: whoever sends a
   *   creation looks afterwards whether the store was closed, and then removes the node itself.
   */
  enum State {
    NEW,
    ASKING,
    WAITING,
    GRANTED,
    UNKNOWN,
    LEAVING,
    OVER
  }

  final ClaimRequest request;
  private final ZooKeeperLockStore store;
  private final OwnNode node;
  private final Enquiry enquiry;
  final Wait wait;
  final Possession possession;
  final Departure departure;
  private volatile ClaimHandler handler;

  // Guarded by this.
  private State state = State.NEW;
  private @Nullable Session session;
  private @Nullable String path;
  private long number;
  private Trail.@Nullable Step step;
  private int attempt;
  private boolean asking;
  private @Nullable Moment asked;

  Claim(ZooKeeperLockStore store, ClaimRequest request, ClaimHandler handler) {
    this.store = store;
    this.request = request;
    this.handler = handler;
    this.node = new OwnNode(store, request);
    this.enquiry = new Enquiry(this, node, request, store);
    this.wait = new Wait(this, node, enquiry, request, store);
    this.possession = new Possession(this, node, request, store);
    this.departure = new Departure(this, node, request, store);
  }

  String tag() {
    return node.tag;
  }

  /** The folder that the node is in. */
  String parent() {
    return node.parent;
  }

  ClaimHandler handler() {
    return handler;
  }

  // Asking. -------------------------------------------------------------------------------------

  /** Asks for the name, for the first time or again; whoever asked last is answered. */
  void ask(ClaimHandler asker) {
    handler = asker;
    wait.askedAgain();
    ask();
  }

  private void ask() {
    State now;
    int mine;
    synchronized (this) {
      now = state;
      mine = attempt;
    }
    try {
      switch (now) {
        case NEW -> create(State.NEW, 0);
        case UNKNOWN -> recover();
        case WAITING -> wait.look(true);
        case GRANTED -> possession.tellAgain();
        default -> {}
      }
    } catch (StoreUnavailableException e) {
      if (now == State.WAITING) {
        fail(mine, e);
      } else {
        handler.failed(e); // Nothing was sent, and it stays what it was.
      }
    }
  }

  /** A new attempt, if the claim is still what the caller took it for; 0 if it is not. */
  private synchronized int begin(State from, State next, Session on) {
    if (state != from) {
      return 0;
    }
    state = next;
    session = on;
    asking = true;
    asked = store.context.time().now();
    return ++attempt;
  }

  private void create(State from, int tries) {
    Session on = store.sessions.connected();
    int mine = begin(from, State.ASKING, on);
    if (mine != 0) {
      enquiry.create(mine, on, tries);
      store.removeIfClosed(this);
    }
  }

  /** As before, unless something else has happened meanwhile. */
  void createAgain(int mine, int tries) {
    synchronized (this) {
      if (attempt != mine) {
        return;
      }
      path = null;
      step = null;
    }
    try {
      create(State.ASKING, tries);
    } catch (StoreUnavailableException e) {
      fail(mine, e);
    }
  }

  /**
   * Its node is there.
   *
   * @param made where it leaves a trail; null if it leaves none
   */
  synchronized void created(int mine, String name, long czxid, Trail.@Nullable Step made) {
    if (attempt == mine) {
      path = name;
      number = czxid;
      step = made;
    }
  }

  // In line. ------------------------------------------------------------------------------------

  /** Nobody is ahead of its node, as its number alone tells. */
  void alone(int mine) {
    boolean isUnwanted;
    Moment sent;
    synchronized (this) {
      if (attempt != mine) {
        return;
      }
      sent = asked;
      isUnwanted = departure.isUnwanted();
    }
    if (isUnwanted) {
      departure.leave(() -> {});
    } else {
      grant(sent);
    }
  }

  /**
   * The line as it was after the node was in it.
   *
   * @param connection which one it was listed on
   */
  void inLine(int mine, Session on, Line line, int connection) {
    List<Place> ahead;
    boolean isUnwanted;
    Moment sent;
    synchronized (this) {
      if (attempt != mine || path == null) {
        return;
      }
      sent = asked;
      ahead = line.aheadOf(node.node(path));
      isUnwanted = departure.isUnwanted();
    }
    if (ahead == null) {
      fail(mine, unavailable("The node of a claim was removed by someone else"));
      return;
    }
    Place stranger = line.stranger(request.mode(), ahead);
    if (isUnwanted) {
      departure.leave(() -> {});
    } else if (stranger != null) {
      String inUse = stranger.mode().family();
      String claimed = request.mode().family();
      departure.leave(() -> handler.failed(Refusals.otherKind(request.name(), claimed, inUse)));
    } else if (Line.fits(request.mode(), ahead)) {
      grant(sent);
    } else if (!request.waits()) {
      CompletableFuture<Obstacle> seen = wait.readObstacle(on, ahead.get(0));
      departure.leave(() -> handler.refused(seen.join())); // Answered before the deletion is.
    } else {
      wait.begin(mine, on, ahead, connection);
    }
  }

  /** It waits from now on; called under the monitor. False if that is no longer so. */
  boolean startsToWait(int mine) {
    if (attempt != mine || (state != State.ASKING && state != State.WAITING)) {
      return false;
    }
    state = State.WAITING;
    return true;
  }

  /** Called under the monitor. */
  boolean isWaiting(int mine) {
    return attempt == mine && state == State.WAITING;
  }

  /** Called under the monitor. */
  boolean is(State one) {
    return state == one;
  }

  /** The attempt that waits; 0 if it does not wait. Called under the monitor. */
  int waitingAttempt() {
    return state == State.WAITING ? attempt : 0;
  }

  /** Whether an answer is outstanding; called under the monitor. */
  boolean isUnanswered() {
    return asking;
  }

  /** The node, as far as it is known; called under the monitor. */
  @Nullable String ownPath() {
    return path;
  }

  /** The session of the last attempt; called under the monitor. */
  @Nullable Session session() {
    return session;
  }

  /** A new attempt of one that waits, to look at the line again; 0 if it does not wait. */
  int looksAgain(Session on) {
    return begin(State.WAITING, State.WAITING, on);
  }

  /** No answer is outstanding; called under the monitor. */
  void isAnswered() {
    asking = false;
  }

  /** It has the name; see {@link Possession#begin}. */
  void grant(@Nullable Moment from) {
    synchronized (this) {
      if (state != State.ASKING && state != State.WAITING) {
        return;
      }
      state = State.GRANTED;
      asking = false;
      possession.begin(session, path, number, from);
      wait.end(session);
    }
    possession.tell();
  }

  // Unknown outcomes. ---------------------------------------------------------------------------

  /** The attempt has failed: whether there is a node, and whether it is ours, is not known. */
  void fail(int mine, RuntimeException cause) {
    boolean heard;
    synchronized (this) {
      if (attempt != mine || (state != State.ASKING && state != State.WAITING)) {
        return;
      }
      attempt++;
      state = State.UNKNOWN;
      asking = false;
      wait.end(session);
      heard = !departure.isUnwanted();
    }
    departure.failed(cause);
    if (heard) {
      handler.failed(cause);
    }
  }

  /** Fails if the answer is overdue. */
  void checkOverdue(long nowNanos, long limitNanos) {
    int mine;
    synchronized (this) {
      if (!asking || asked == null || nowNanos - asked.nanos() < limitNanos) {
        return;
      }
      mine = attempt;
    }
    fail(mine, unavailable("A claim of lock '" + request.name() + "' was not answered"));
  }

  private void recover() {
    Session on = store.sessions.connected();
    int mine = begin(State.UNKNOWN, State.ASKING, on);
    if (mine != 0) {
      enquiry.recover(mine, on);
    }
  }

  // The end. ------------------------------------------------------------------------------------

  /** The grant is not there any more; false if it was known to be over before. */
  boolean vanish() {
    synchronized (this) {
      if (state != State.GRANTED) {
        return false;
      }
      state = State.OVER;
    }
    store.claims.remove(this);
    return true;
  }

  /** The session has ended, and the node with it. */
  void sessionEnded(Session old) {
    int mine;
    synchronized (this) {
      if (session != old) {
        return;
      }
      mine = attempt;
    }
    possession.gone();
    fail(mine, unavailable("The session ended while lock '" + request.name() + "' was waited for"));
  }

  /** The store is closed. */
  void close() {
    int mine;
    synchronized (this) {
      mine = attempt;
    }
    fail(mine, unavailable("The store was closed"));
    possession.closed();
  }

  /** The session that a node of it may live in; null if there never was one. */
  synchronized @Nullable Session nodesSession() {
    return state == State.NEW || state == State.OVER ? null : session;
  }

  /** Deletes whatever there is of it in a session, without regard to what it is. */
  CompletableFuture<Release> purge(Session on) {
    return node.purge(on);
  }

  /** It leaves from now on; whatever is answered to it later does not count. */
  synchronized Departure.Remainder startsToLeave() {
    boolean isNew = state == State.NEW;
    Trail.Step left = state == State.GRANTED ? step : null;
    wait.end(session);
    state = State.LEAVING;
    asking = false;
    attempt++;
    return new Departure.Remainder(isNew, path, left);
  }

  /**
   * The deletion was answered, or has failed.
   *
   * @param surely whether it is known that there is no node
   */
  void hasLeft(boolean surely) {
    synchronized (this) {
      state = surely ? State.OVER : State.UNKNOWN;
    }
    if (surely) {
      store.claims.remove(this);
    }
  }

  StoreUnavailableException unavailable(String what) {
    return new StoreUnavailableException(store.description(), what, null);
  }
}
