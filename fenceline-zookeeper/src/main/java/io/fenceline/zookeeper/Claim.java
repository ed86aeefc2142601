package io.fenceline.zookeeper;

import io.fenceline.ModeConflictException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Lane;
import io.fenceline.spi.Moment;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Release;
import io.fenceline.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * One claim and its node, from the asking until it is known that there is no node.
 *
 * <p>Requests of one session are done and answered in order, so the node is created and the line
 * behind it listed in one round trip. Answers arrive on ZooKeeper's event thread.
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
   *   node while it deletes it, in one step: that event says that it had the name, so everyone ahead
   *   of it was gone.
   */
  private enum State {
    NEW,
    ASKING,
    WAITING,
    GRANTED,
    UNKNOWN,
    LEAVING,
    OVER
  }

  private static final byte[] NOTHING = {};
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();
  private static final int COLD_TRIES = 5;
  private static final AsyncCallback.StringCallback IGNORED = (code, path, context, name) -> {};

  final ClaimRequest request;
  final String tag;
  private volatile ClaimHandler handler;
  private final ZooKeeperStore store;
  private final String parent;

  // Guarded by this.
  private State state = State.NEW;
  private @Nullable Session session;
  private @Nullable String path;
  private long number;
  private long grantedNanos;
  private int attempt;
  private boolean asking;
  private long askedNanos;
  private List<Place> ahead = List.of();
  private final Set<String> watched = new HashSet<>(2);
  private boolean waited;
  private boolean unwanted;
  private @Nullable Obstacle obstacle;
  private @Nullable String headNode;
  private boolean told;
  private Time.@Nullable Timer poll;
  private final List<CompletableFuture<Void>> withdrawals = new ArrayList<>(0);

  Claim(ZooKeeperStore store, ClaimRequest request, ClaimHandler handler) {
    this.store = store;
    this.request = request;
    this.handler = handler;
    this.tag = Place.tagOf(request.owner());
    this.parent = store.paths.of(request.name());
  }

  // Asking. -------------------------------------------------------------------------------------

  /** Asks for the name, for the first time or again; whoever asked last is answered. */
  void ask(ClaimHandler asker) {
    handler = asker;
    synchronized (this) {
      told = false;
    }
    ask();
  }

  private void ask() {
    State now;
    synchronized (this) {
      now = state;
    }
    try {
      switch (now) {
        case NEW -> create(State.NEW, 0);
        case UNKNOWN -> recover();
        case WAITING -> look();
        case GRANTED -> tellGranted();
        default -> {}
      }
    } catch (StoreUnavailableException e) {
      if (now == State.NEW) {
        handler.failed(e); // Nothing was sent.
      } else {
        fail(e);
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
    askedNanos = store.context.time().nanos();
    return ++attempt;
  }

  private synchronized boolean isCurrent(int mine) {
    return attempt == mine;
  }

  private void create(State from, int coldTries) {
    Session on = store.sessions.current();
    int mine = begin(from, State.ASKING, on);
    if (mine == 0) {
      return;
    }
    synchronized (this) {
      path = null;
    }
    ZooKeeper zk = on.zk;
    if (coldTries > 0) {
      store.createShard(zk, request.name());
      zk.create(parent, NOTHING, store.acl, CreateMode.CONTAINER, IGNORED, null);
    }
    Moment sent = store.context.time().now();
    AsyncCallback.Create2Callback created =
        (code, asked, context, name, stat) -> {
          if (code == OK) {
            store.heartbeat.answered(on, sent);
            created(mine, name, stat.getCzxid());
          } else if (code == NO_NODE && coldTries < COLD_TRIES) {
            createCold(mine, coldTries + 1);
          } else {
            fail(mine, on.failure("Claiming lock '" + request.name() + "'", code));
          }
        };
    String prefix = parent + "/" + Place.prefix(request.mode(), store.clientTag, tag);
    zk.create(
        prefix,
        store.nodeData(on, request.lease()),
        store.acl,
        CreateMode.EPHEMERAL_SEQUENTIAL,
        created,
        null);
    list(mine, on);
  }

  /** The container is not there, or was removed in between: it is made along with the node. */
  private void createCold(int mine, int tries) {
    if (isCurrent(mine)) {
      try {
        create(State.ASKING, tries);
      } catch (StoreUnavailableException e) {
        fail(mine, e);
      }
    }
  }

  private synchronized void created(int mine, String name, long czxid) {
    if (attempt == mine) {
      path = name;
      number = czxid;
    }
  }

  private void list(int mine, Session on) {
    AsyncCallback.ChildrenCallback listed =
        (code, asked, context, children) -> {
          if (code == OK) {
            order(mine, on, Line.parse(children));
          } else {
            fail(mine, on.failure("Listing lock '" + request.name() + "'", code));
          }
        };
    on.zk.getChildren(parent, false, listed, null);
  }

  /** Lists the line again. */
  private void look() {
    Session on;
    synchronized (this) {
      on = session;
    }
    if (on == null || on.hasEnded()) {
      throw new StoreUnavailableException(store.description(), "The session has ended", null);
    }
    int mine = begin(State.WAITING, State.WAITING, on);
    if (mine != 0) {
      list(mine, on);
    }
  }

  private void order(int mine, Session on, List<Place> places) {
    if (Line.areSequencesSound(places)) {
      inLine(mine, Line.bySequence(places));
      return;
    }
    store
        .ordered(on, parent, places)
        .whenComplete(
            (line, failure) -> {
              if (line != null) {
                inLine(mine, line);
              } else {
                fail(mine, store.meaning(failure));
              }
            });
  }

  // In line. ------------------------------------------------------------------------------------

  private void inLine(int mine, Line line) {
    Place stranger;
    boolean fits;
    boolean left = false;
    synchronized (this) {
      if (attempt != mine || path == null) {
        return;
      }
      List<Place> found = line.aheadOf(path.substring(parent.length() + 1));
      left = found == null;
      ahead = found == null ? List.of() : new ArrayList<>(found);
      asking = false;
      stranger = Line.stranger(request.mode(), ahead);
      fits = !left && Line.fits(request.mode(), ahead);
    }
    if (left) {
      fail(mine, unavailable("The node of a claim was removed by someone else"));
    } else if (isUnwanted()) {
      leave(() -> {});
    } else if (stranger != null) {
      String inUse = stranger.mode().family();
      leave(
          () ->
              handler.failed(
                  new ModeConflictException(request.name(), request.mode().family(), inUse)));
    } else if (fits) {
      grant();
    } else if (!request.waits()) {
      refuse();
    } else {
      watch(mine);
    }
  }

  private synchronized boolean isUnwanted() {
    return unwanted;
  }

  private void refuse() {
    Session on;
    Place head;
    synchronized (this) {
      on = session;
      head = ahead.get(0);
    }
    if (on == null) {
      return;
    }
    CompletableFuture<Obstacle> seen =
        new Calls(on).read(parent + "/" + head.node()).handle((node, failure) -> obstacle(node));
    leave(() -> handler.refused(seen.join())); // Answered before the deletion is.
  }

  private static Obstacle obstacle(Calls.@Nullable Node node) {
    return node == null
        ? Obstacle.UNKNOWN
        : new Obstacle(
            node.data().client().label(),
            node.stat().getCzxid(),
            Duration.ofMillis(node.data().leaseMillis()));
  }

  private void watch(int mine) {
    Session on;
    List<Place> toWatch;
    Place head;
    boolean headIsNew;
    synchronized (this) {
      if (attempt != mine || session == null) {
        return;
      }
      state = State.WAITING;
      waited = true;
      on = session;
      head = ahead.get(0);
      List<Place> wanted = Line.toWatch(request.mode(), ahead);
      headIsNew = !wanted.contains(head) && !head.node().equals(headNode);
      headNode = head.node();
      toWatch = wanted.stream().filter(place -> watched.add(place.node())).toList();
      asking = !toWatch.isEmpty();
      schedulePoll();
    }
    for (Place place : toWatch) {
      String node = parent + "/" + place.node();
      on.tell(this, node);
      AsyncCallback.DataCallback heard =
          (code, asked, context, data, stat) -> {
            if (code == OK) {
              standing(
                  mine,
                  place.equals(head) ? obstacle(new Calls.Node(NodeData.parse(data), stat)) : null);
            } else if (code == NO_NODE) {
              on.dontTell(this, node);
              left(node, false);
            } else {
              fail(mine, on.failure("Watching lock '" + request.name() + "'", code));
            }
          };
      on.zk.getData(node, on, heard, null);
    }
    if (toWatch.isEmpty() && !headIsNew) {
      repeat(mine);
    }
    if (headIsNew) {
      new Calls(on)
          .read(parent + "/" + head.node())
          .thenAccept(node -> standing(mine, obstacle(node)));
    }
  }

  /** Nothing has changed; whoever has asked again hears it. */
  private void repeat(int mine) {
    Obstacle known;
    synchronized (this) {
      known = obstacle;
      if (told) {
        return;
      }
    }
    standing(mine, known == null ? Obstacle.UNKNOWN : known);
  }

  /** One who is in the way is still there; said once it is known who has the name. */
  private void standing(int mine, @Nullable Obstacle found) {
    synchronized (this) {
      if (attempt != mine || state != State.WAITING) {
        return;
      }
      asking = false;
      if (found == null || (told && found.equals(obstacle))) {
        return;
      }
      told = true;
      obstacle = found;
    }
    handler.waiting(found);
  }

  /**
   * Someone ahead has left.
   *
   * @param hadIt whether it is known that it had the name, so that nobody ahead of it is left
   */
  void left(String node, boolean hadIt) {
    boolean fits;
    int mine;
    synchronized (this) {
      if (state != State.WAITING || !node.startsWith(parent)) {
        return;
      }
      String name = node.substring(parent.length() + 1);
      watched.remove(name);
      List<Place> rest = new ArrayList<>(ahead);
      int index = indexOf(rest, name);
      if (index >= 0 && hadIt) {
        rest.subList(0, index + 1).clear();
      } else if (index >= 0) {
        rest.remove(index);
      }
      ahead = rest;
      fits = Line.fits(request.mode(), rest);
      mine = attempt;
    }
    if (isUnwanted()) {
      return;
    }
    if (fits) {
      grant();
    } else {
      try {
        look();
      } catch (StoreUnavailableException e) {
        fail(mine, e);
      }
    }
  }

  private static int indexOf(List<Place> places, String node) {
    for (int i = places.size() - 1; i >= 0; i--) {
      if (places.get(i).node().equals(node)) {
        return i;
      }
    }
    return -1;
  }

  private void schedulePoll() {
    cancelPoll();
    long lease = request.lease().toNanos();
    long delay = lease + (long) (store.context.random().nextDouble() * lease / 10);
    poll =
        store
            .context
            .time()
            .schedule(delay, () -> store.context.time().lane(Lane.WORK).execute(this::pollNow));
  }

  private void pollNow() {
    synchronized (this) {
      if (state != State.WAITING || asking) {
        return;
      }
    }
    ask();
  }

  private void cancelPoll() {
    if (poll != null) {
      poll.cancel();
      poll = null;
    }
  }

  private void grant() {
    Session on;
    synchronized (this) {
      on = session;
      if (on == null || (state != State.ASKING && state != State.WAITING)) {
        return;
      }
      state = State.GRANTED;
      asking = false;
      grantedNanos = store.context.time().nanos();
      ahead = List.of();
      stopWatching(on);
    }
    tellGranted();
  }

  private void tellGranted() {
    Session on;
    long given;
    synchronized (this) {
      on = session;
      given = number;
    }
    if (on != null) {
      // Less than half of what could be proven would only make the holder renew at once.
      long needed = store.leastNanos(on, request.lease());
      store.heartbeat.whenProven(
          on, needed, () -> handler.granted(new Grant(given, on.validity(request.lease()))));
    }
  }

  private void stopWatching(Session on) {
    cancelPoll();
    for (String node : watched) {
      on.dontTell(this, parent + "/" + node);
    }
    watched.clear();
  }

  // Unknown outcomes. ---------------------------------------------------------------------------

  private void fail(StoreUnavailableException cause) {
    int mine;
    synchronized (this) {
      mine = attempt;
    }
    fail(mine, cause);
  }

  /** The attempt has failed: whether there is a node, and whether it is ours, is not known. */
  private void fail(int mine, RuntimeException cause) {
    List<CompletableFuture<Void>> told;
    boolean heard;
    synchronized (this) {
      if (attempt != mine || (state != State.ASKING && state != State.WAITING)) {
        return;
      }
      forget();
      heard = !unwanted;
      told = List.copyOf(withdrawals);
      withdrawals.clear();
    }
    told.forEach(withdrawal -> withdrawal.completeExceptionally(cause));
    if (heard) {
      handler.failed(cause);
    }
  }

  private void forget() {
    attempt++;
    state = State.UNKNOWN;
    asking = false;
    if (session != null) {
      stopWatching(session);
    }
  }

  /** Fails if the answer is overdue. */
  void checkOverdue(long nowNanos, long limitNanos) {
    int mine;
    synchronized (this) {
      if (!asking || nowNanos - askedNanos < limitNanos) {
        return;
      }
      mine = attempt;
    }
    fail(mine, unavailable("A claim of lock '" + request.name() + "' was not answered"));
  }

  /** Finds out whether there is a node, and goes on from there. */
  private void recover() {
    Session on = store.sessions.current();
    int mine = begin(State.UNKNOWN, State.ASKING, on);
    if (mine == 0) {
      return;
    }
    Calls calls = new Calls(on);
    calls
        .newestChildren(parent)
        .whenComplete(
            (children, failure) -> {
              if (failure != null) {
                fail(mine, store.meaning(failure));
              } else if (isCurrent(mine)) {
                adopt(mine, on, calls, Line.parse(children));
              }
            });
  }

  private void adopt(int mine, Session on, Calls calls, List<Place> line) {
    Place own = null;
    for (Place place : line) {
      own = place.tag().equals(tag) ? place : own;
    }
    if (own == null) {
      createCold(mine, 0);
      return;
    }
    String node = parent + "/" + own.node();
    calls
        .read(node)
        .whenComplete(
            (found, failure) -> {
              if (failure != null) {
                fail(mine, store.meaning(failure));
              } else if (!isCurrent(mine)) {
                return;
              } else if (found == null) {
                createCold(mine, 0);
              } else if (found.stat().getEphemeralOwner() == on.id()) {
                created(mine, node, found.stat().getCzxid());
                order(mine, on, line);
              } else {
                // Of a session that has ended: it will never be ours again.
                deleteAndAsk(mine, calls, node);
              }
            });
  }

  private void deleteAndAsk(int mine, Calls calls, String node) {
    calls
        .delete(node)
        .whenComplete(
            (deleted, failure) -> {
              if (failure != null) {
                fail(mine, store.meaning(failure));
              } else {
                createCold(mine, 0);
              }
            });
  }

  // The end. ------------------------------------------------------------------------------------

  boolean isGrantedOn(Session on) {
    synchronized (this) {
      return state == State.GRANTED && session == on && !on.hasEnded();
    }
  }

  /** The name of the node, if a listing of that time must show it; null if it need not. */
  synchronized @Nullable String nodeGrantedBefore(long nanos) {
    return path == null || grantedNanos - nanos >= 0 ? null : path.substring(parent.length() + 1);
  }

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

  /** As {@link #vanish}, and the holder has not asked. */
  void gone() {
    if (vanish()) {
      handler.gone();
    }
  }

  /** The session has ended, and the node with it. */
  void sessionEnded(Session old) {
    synchronized (this) {
      if (session != old) {
        return;
      }
    }
    gone();
    fail(unavailable("The session ended while lock '" + request.name() + "' was waited for"));
  }

  /** The store is closed. */
  void close() {
    fail(unavailable("The store was closed"));
  }

  /** Makes sure that there is no node. */
  CompletableFuture<Void> withdraw() {
    CompletableFuture<Void> done = new CompletableFuture<>();
    State now;
    boolean inLine;
    synchronized (this) {
      unwanted = true;
      now = state;
      inLine = path != null;
      if (now == State.ASKING) {
        withdrawals.add(done); // Whatever is heard next ends it.
      }
    }
    switch (now) {
      case NEW -> {
        over();
        done.complete(null);
      }
      case ASKING -> {}
      case OVER -> done.complete(null);
      default -> {
        if (inLine) {
          delete(false).whenComplete((release, failure) -> complete(done, failure));
        } else {
          purge().whenComplete((release, failure) -> complete(done, failure));
        }
      }
    }
    return done;
  }

  private static void complete(CompletableFuture<Void> done, @Nullable Throwable failure) {
    if (failure == null) {
      done.complete(null);
    } else {
      done.completeExceptionally(failure);
    }
  }

  /** Gives the grant back. */
  CompletableFuture<Release> release() {
    boolean known;
    boolean handsOver;
    synchronized (this) {
      known = path != null;
      handsOver = waited && request.mode() instanceof io.fenceline.spi.Mode.Exclusive;
    }
    return known ? delete(handsOver) : purge();
  }

  /** Leaves the line, then does something; whoever withdrew it meanwhile is told. */
  private void leave(Runnable then) {
    delete(false)
        .whenComplete(
            (release, failure) -> {
              List<CompletableFuture<Void>> told;
              boolean heard;
              synchronized (this) {
                told = List.copyOf(withdrawals);
                withdrawals.clear();
                heard = !unwanted;
              }
              told.forEach(withdrawal -> complete(withdrawal, failure));
              if (!heard) {
                return;
              }
              if (failure == null) {
                then.run();
              } else {
                handler.failed(store.meaning(failure));
              }
            });
  }

  private CompletableFuture<Release> delete(boolean handsOver) {
    CompletableFuture<Release> answer = new CompletableFuture<>();
    String node;
    Session on;
    try {
      on = store.sessions.current();
    } catch (StoreUnavailableException e) {
      answer.completeExceptionally(e);
      return answer;
    }
    synchronized (this) {
      node = path;
      if (session != null) {
        stopWatching(session);
      }
      state = State.LEAVING;
      asking = false;
      attempt++;
    }
    if (handsOver) {
      // The change tells the next one that this was the holder, so it need not list the line.
      AsyncCallback.MultiCallback heard =
          (code, asked, context, results) -> deleted(answer, on, code);
      on.zk.multi(List.of(Op.setData(node, NOTHING, -1), Op.delete(node, -1)), heard, null);
    } else {
      AsyncCallback.VoidCallback heard = (code, asked, context) -> deleted(answer, on, code);
      on.zk.delete(node, -1, heard, null);
    }
    return answer;
  }

  private void deleted(CompletableFuture<Release> answer, Session on, int code) {
    if (code == OK || code == NO_NODE) {
      over();
      answer.complete(code == OK ? Release.RELEASED : Release.GONE);
    } else {
      synchronized (this) {
        state = State.UNKNOWN;
      }
      answer.completeExceptionally(on.failure("Giving back lock '" + request.name() + "'", code));
    }
  }

  /** Deletes whatever there is of this owner, of which we do not know the node. */
  CompletableFuture<Release> purge() {
    Calls calls;
    try {
      calls = new Calls(store.sessions.current());
    } catch (StoreUnavailableException e) {
      return CompletableFuture.failedFuture(e);
    }
    synchronized (this) {
      state = State.LEAVING;
      attempt++;
    }
    return calls
        .newestChildren(parent)
        .thenCompose(
            children -> {
              List<CompletableFuture<Boolean>> deletions = new ArrayList<>(1);
              for (Place place : Line.parse(children)) {
                if (place.tag().equals(tag)) {
                  deletions.add(calls.delete(parent + "/" + place.node()));
                }
              }
              return CompletableFuture.allOf(deletions.toArray(new CompletableFuture<?>[0]))
                  .thenApply(
                      done ->
                          deletions.stream().anyMatch(CompletableFuture::join)
                              ? Release.RELEASED
                              : Release.GONE);
            })
        .whenComplete(
            (release, failure) -> {
              if (failure == null) {
                over();
              } else {
                synchronized (this) {
                  state = State.UNKNOWN;
                }
              }
            });
  }

  private void over() {
    synchronized (this) {
      state = State.OVER;
    }
    store.claims.remove(this);
  }

  private StoreUnavailableException unavailable(String what) {
    return new StoreUnavailableException(store.description(), what, null);
  }
}
