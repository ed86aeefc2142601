package io.fenceline.zookeeper;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * The waiting of a claim: who is ahead, whom it watches, and what it says of who has the name.
 *
 * <p>State is guarded by the claim's monitor; nobody is told anything under it.
 */
final class Wait {
  /*
   * Of those ahead, only as many are kept as it takes to see that the claim does not fit: a line of n
   * would otherwise be kept n times. The near ones are watched; the far ones are the next ahead of
   * them. If the claim does not fit beside the far ones alone, it fits beside no more either; if it
   * does, they are all there are.
   *
   * An event grants without a look at the line, so the own node is watched, too. If someone removes it,
   * the next in line no longer waits for us, and both would be granted by the same event. Events of one
   * connection come in the order of what they tell of: that our node is gone is heard first. After a
   * reconnect they come in any order, so nothing is granted by an event unless the line was listed on
   * the connection that the event came by.
   */
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();

  /** Whatever is the matter with the node, the read of its data tells it. */
  private static final AsyncCallback.Children2Callback IGNORED =
      (code, path, context, children, stat) -> {};

  private final Claim claim;
  private final OwnNode node;
  private final Enquiry enquiry;
  private final ClaimRequest request;
  private final ZooKeeperLockStore store;

  // Guarded by the claim.
  private List<Place> near = List.of();
  private List<Place> far = List.of();
  private final Set<String> watched = new HashSet<>(2);
  private @Nullable Obstacle obstacle;
  private @Nullable String headNode;
  private boolean begun;
  private boolean told;
  private int listedOn;
  private Time.@Nullable Timer poll;

  Wait(Claim claim, OwnNode node, Enquiry enquiry, ClaimRequest request, ZooKeeperLockStore store) {
    this.claim = claim;
    this.node = node;
    this.enquiry = enquiry;
    this.request = request;
    this.store = store;
  }

  /** Whoever asks now has not been told anything yet. */
  void askedAgain() {
    synchronized (claim) {
      told = false;
    }
  }

  /**
   * Watches those whose leaving can make the claim fit, and says who has the name.
   *
   * @param connection which one the line was listed on
   */
  void begin(int mine, Session on, List<Place> line, int connection) {
    List<Place> toWatch;
    Place head = line.get(0);
    boolean headIsNew;
    String own;
    synchronized (claim) {
      if (!claim.startsToWait(mine)) {
        return;
      }
      begun = true;
      listedOn = connection;
      near = new ArrayList<>(Line.toWatch(request.mode(), line));
      int watchedFrom = line.lastIndexOf(near.get(near.size() - 1));
      far = Line.toWatch(request.mode(), line.subList(0, watchedFrom));
      headIsNew = !near.contains(head) && !head.node().equals(headNode);
      headNode = head.node();
      own = claim.ownPath();
      if (own != null && !watched.add(node.node(own))) {
        own = null;
      }
      toWatch = near.stream().filter(place -> watched.add(place.node())).toList();
      if (toWatch.isEmpty()) {
        claim.isAnswered();
      }
      schedulePoll();
    }
    if (own != null) {
      watchOwn(mine, on, own);
    }
    for (Place place : toWatch) {
      watch(mine, on, place, place.equals(head));
    }
    if (headIsNew) {
      new Calls(on).read(node.path(head)).thenAccept(found -> headRead(mine, found));
    } else if (toWatch.isEmpty()) {
      repeat(mine);
    }
  }

  /** Whether it was ever behind another one; called under the claim's monitor. */
  boolean hasBegun() {
    return begun;
  }

  private void watchOwn(int mine, Session on, String path) {
    on.tell(claim, path);
    AsyncCallback.DataCallback heard =
        (code, asked, context, data, stat) -> {
          if (code == NO_NODE) {
            on.dontTell(claim, path);
            left(path, false);
          } else if (code != OK) {
            claim.fail(mine, on.failure("Watching lock '" + request.name() + "'", code));
          }
        };
    on.zk.getData(path, on, heard, null);
  }

  private void watch(int mine, Session on, Place place, boolean isHead) {
    String path = node.path(place);
    on.tell(claim, path);
    AsyncCallback.DataCallback heard =
        (code, asked, context, data, stat) -> {
          if (code == OK) {
            Calls.Node found = new Calls.Node(NodeData.parse(data), stat);
            standing(mine, isHead ? obstacle(found) : null);
          } else if (code == NO_NODE) {
            on.dontTell(claim, path);
            left(path, false);
          } else {
            claim.fail(mine, on.failure("Watching lock '" + request.name() + "'", code));
          }
        };
    on.zk.getData(path, on, heard, null);
    // This watch outlasts a change of the data, and tells of the deletion that may follow.
    on.zk.getChildren(path, on, IGNORED, null);
  }

  /** Who is in the way; unknown if it can't be read. */
  CompletableFuture<Obstacle> readObstacle(Session on, Place head) {
    return new Calls(on).read(node.path(head)).handle((found, failure) -> obstacle(found));
  }

  private static Obstacle obstacle(Calls.@Nullable Node found) {
    return found == null
        ? Obstacle.UNKNOWN
        : new Obstacle(
            found.data().client().label(),
            found.stat().getCzxid(),
            Duration.ofMillis(found.data().leaseMillis()));
  }

  /** The list may be older than the head's leaving: what was known before is then better. */
  private void headRead(int mine, Calls.@Nullable Node found) {
    boolean isKnown;
    synchronized (claim) {
      isKnown = told;
    }
    standing(mine, found == null && isKnown ? null : obstacle(found));
  }

  /** Nothing has changed; whoever has asked again hears it. */
  private void repeat(int mine) {
    Obstacle known;
    synchronized (claim) {
      known = obstacle;
      if (told) {
        return;
      }
    }
    standing(mine, known == null ? Obstacle.UNKNOWN : known);
  }

  /** One who is in the way is still there; said once it is known who has the name. */
  private void standing(int mine, @Nullable Obstacle found) {
    synchronized (claim) {
      if (!claim.isWaiting(mine)) {
        return;
      }
      claim.isAnswered();
      if (found == null || (told && found.equals(obstacle))) {
        return;
      }
      told = true;
      obstacle = found;
    }
    claim.handler().waiting(found);
  }

  // Looking again. ------------------------------------------------------------------------------

  /** The data of a node were changed: of one ahead, which means nothing yet, or of the own. */
  void changed(String path) {
    int mine;
    synchronized (claim) {
      mine = claim.waitingAttempt();
      if (mine == 0 || claim.departure.isUnwanted() || !path.equals(claim.ownPath())) {
        return;
      }
    }
    touched(mine);
  }

  /** Nothing that is heard from now on grants anything, until it is known to be in line again. */
  private void touched(int mine) {
    claim.fail(mine, claim.unavailable("The node of a claim was touched by someone else"));
  }

  /**
   * Someone ahead has left, or the own node is gone.
   *
   * @param hadIt whether it is known that it had the name
   */
  void left(String gone, boolean hadIt) {
    boolean fits;
    boolean isOwn;
    int mine;
    synchronized (claim) {
      mine = claim.waitingAttempt();
      if (mine == 0 || claim.departure.isUnwanted()) {
        return;
      }
      isOwn = gone.equals(claim.ownPath());
      Session on = claim.session();
      boolean isInOrder = on != null && on.connection() == listedOn;
      fits = !isOwn && fitsWithout(gone, hadIt) && isInOrder;
    }
    if (isOwn) {
      touched(mine);
    } else if (fits) {
      claim.grant(null);
    } else {
      lookOrFail(mine, true);
    }
  }

  /**
   * Someone ahead has left; called under the claim's monitor.
   *
   * @param hadIt whether it is known that it had the name, so that nobody ahead of it is left
   * @return whether the claim fits beside those that are left
   */
  private boolean fitsWithout(String path, boolean hadIt) {
    String gone = node.node(path);
    watched.remove(gone);
    for (int i = 0; i < near.size(); i++) {
      if (near.get(i).node().equals(gone)) {
        near.subList(i, hadIt ? near.size() : i + 1).clear(); // The nearest is the first.
        far = hadIt ? List.of() : far;
        break;
      }
    }
    List<Mode> left = Stream.concat(near.stream(), far.stream()).map(Place::mode).toList();
    return request.mode().fitsBeside(left);
  }

  /** Looks whether an event was missed. */
  private void poll() {
    int mine;
    synchronized (claim) {
      mine = claim.waitingAttempt();
      if (mine == 0 || claim.isUnanswered()) {
        return;
      }
    }
    lookOrFail(mine, false);
  }

  private void lookOrFail(int mine, boolean anew) {
    try {
      look(anew);
    } catch (StoreUnavailableException e) {
      claim.fail(mine, e);
    }
  }

  /**
   * Looks at the line again.
   *
   * @param anew whether something is known to have changed; otherwise it is a poll
   */
  void look(boolean anew) {
    Session on;
    synchronized (claim) {
      on = claim.session();
    }
    if (on == null || on.hasEnded()) {
      throw claim.unavailable("The session has ended");
    }
    int mine = claim.looksAgain(on);
    if (mine == 0) {
      return;
    }
    if (anew) {
      enquiry.list(mine, on);
    } else {
      enquiry.poll(mine, on);
    }
  }

  private void schedulePoll() {
    cancelPoll();
    Time time = store.context.time();
    long lease = request.lease().toNanos();
    long delay = lease + (long) (store.context.random().nextDouble() * lease / 10);
    poll = time.schedule(delay, () -> time.lane(Lane.WORK).execute(this::poll));
  }

  private void cancelPoll() {
    if (poll != null) {
      poll.cancel();
      poll = null;
    }
  }

  /** The wait is over; called under the claim's monitor. */
  void end(@Nullable Session on) {
    cancelPoll();
    near = List.of();
    far = List.of();
    if (on != null) {
      for (String gone : watched) {
        on.dontTell(claim, node.parent + "/" + gone);
      }
    }
    watched.clear();
  }
}
