package io.fenceline.zookeeper.claim;

import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import io.fenceline.zookeeper.layout.QueueNode;
import io.fenceline.zookeeper.session.Session;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state of a claim, with what is known in it. Guarded by the monitor of the {@link Claim}.
 *
 * <pre>
 * New → Asking → Waiting → Granted → Leaving → Over
 *          ↑        ↓          (each state may leave; a grant that is gone is over)
 *          └──── Unknown       (an answer is missing, so there may be a node)
 * </pre>
 */
sealed interface ClaimState {

  /** Returns the session of the last attempt; null if there was none. */
  default @Nullable Session session() {
    return null;
  }

  /** Returns the claim's node, as far as it is known. */
  default @Nullable OwnNode node() {
    return null;
  }

  /**
   * The claim's own node.
   *
   * @param czxid the transaction that created it: the grant number
   * @param fast the attempt of the fast path that must hear of its deletion; null if none
   */
  record OwnNode(String path, long czxid, FastPath.@Nullable Attempt fast) {
    String name() {
      return path.substring(path.lastIndexOf('/') + 1);
    }
  }

  /** Nothing was sent yet. */
  record New() implements ClaimState {}

  /** The node is being created, or searched for. */
  record Asking(Session session, Moment sent, @Nullable OwnNode node) implements ClaimState {
    Asking withNode(@Nullable OwnNode own) {
      return new Asking(session, sent, own);
    }
  }

  /** Behind others in the queue. */
  final class Waiting implements ClaimState {
    /*
     * How it hears that it is granted, by how many are ahead:
     *
     * - One: the deletion of that one is the grant. The own node is watched, too.
     * - Few: when one that is watched has left, the queue is listed. The list shows the own node, so
     *   that this is not watched, and decides alone.
     * - Many: a list would be long. The events grant by which a predecessor hands over. The own node
     *   is watched, too.
     *
     * An event grants only after the answer that the own node is watched. A predecessor may have been
     * watched for longer: the own node could be gone before its watch is set, and the predecessor next.
     *
     * Keeps only as many of those ahead as it takes to see that the claim does not fit: otherwise n
     * waiters would keep n queues. The near ones are watched; the far ones are the next ahead of them.
     * If the claim does not fit beside the far ones alone, it does not fit beside more of them either;
     * if it does fit, there are no more.
     */
    private final Session session;
    private final OwnNode node;
    private final Set<String> watched = new HashSet<>(2); // On the connection of the last list.
    private final Set<String> registered = new HashSet<>(2);
    private List<QueueNode> near = List.of();
    private List<QueueNode> far = List.of();
    private @Nullable QueueNode head;
    private int listedOn;

    /** Whether the own node is known to be watched: an event may grant. Otherwise a list does. */
    boolean isOwnWatched;

    /** When the queue was last requested. */
    Moment sent;

    /** Whether that request is not answered yet. */
    boolean isUnanswered = true;

    /** Whether the handler was told who is in the way, and who that is. */
    boolean isTold;

    @Nullable Obstacle obstacle;

    Time.@Nullable Timer poll;

    Waiting(Session session, OwnNode node, Moment sent) {
      this.session = session;
      this.node = node;
      this.sent = sent;
    }

    @Override
    public Session session() {
      return session;
    }

    @Override
    public OwnNode node() {
      return node;
    }

    /**
     * The requests that a new list leads to.
     *
     * @param own whether to watch the own node
     * @param predecessors the other nodes to watch
     * @param handOvers whether to hear if a predecessor hands over, not only that it is gone
     * @param isHeadNew whether the head of the queue has changed, and is not watched
     */
    record Watches(
        boolean own, List<QueueNode> predecessors, boolean handOvers, boolean isHeadNew) {}

    /**
     * Takes over a new list.
     *
     * @param ahead those ahead, the nearest last
     * @param connection the connection that the list was requested on
     * @param longest how many may be ahead in a short queue; see {@link ClaimTuning}
     */
    Watches follow(Mode mode, List<QueueNode> ahead, int connection, int longest) {
      if (connection != listedOn) {
        // ZooKeeper's client may have been told not to set watches again after a reconnect.
        watched.clear();
        isOwnWatched = false;
      }
      listedOn = connection;
      near = LockQueue.toWatch(mode, ahead);
      boolean isNext = ahead.size() == 1;
      boolean isLong = ahead.size() > longest && !isNext;
      int watchedFrom = ahead.lastIndexOf(near.get(near.size() - 1));
      far = LockQueue.toWatch(mode, ahead.subList(0, watchedFrom));
      QueueNode before = head;
      head = ahead.get(0);
      boolean isHeadNew = !near.contains(head) && (!head.equals(before) || isHeadUnread());
      boolean isOwnNew = (isLong || isNext) && watched.add(node.name());
      List<QueueNode> others = new ArrayList<>(1);
      for (QueueNode one : near) {
        if (watched.add(one.name())) {
          others.add(one);
        }
      }
      registered.addAll(watched);
      return new Watches(isOwnNew, others, isLong, isHeadNew);
    }

    /** The first in the queue, which has the name; null if there was no list yet. */
    @Nullable QueueNode head() {
      return head;
    }

    /** Whether the handler was told no number of the one who has the name. */
    boolean isHeadUnread() {
      return obstacle == null || obstacle.number() == null;
    }

    /**
     * Removes one ahead that has left; returns whether the claim is granted by that, because it
     * fits beside those that remain, and events have come in order since the list (see {@link
     * Session}).
     *
     * @param handedOver whether that one is known to have held the name, so that nobody ahead of it
     *     remains
     */
    boolean isGrantedWithout(String gone, Mode mode, boolean handedOver) {
      watched.remove(gone);
      registered.remove(gone);
      for (int i = 0; i < near.size(); i++) {
        if (near.get(i).name().equals(gone)) {
          near.subList(i, handedOver ? near.size() : i + 1).clear(); // The nearest is the first.
          far = handedOver ? List.of() : far;
          break;
        }
      }
      if (!isOwnWatched || session.connection() != listedOn) {
        return false;
      }
      List<Mode> left = LockQueue.modes(near);
      left.addAll(LockQueue.modes(far));
      return mode.fitsBeside(left);
    }

    /** Ends the wait. */
    void stop(Session.NodeWatcher watcher, String folder) {
      if (poll != null) {
        poll.cancel();
      }
      registered.forEach(name -> session.unregister(watcher, folder + "/" + name));
    }
  }

  /** Holds the name. */
  final class Granted implements ClaimState {
    private final Session session;
    private final OwnNode node;

    /** When the lease begins. */
    final Moment from;

    /** When the node was known to be there. */
    final long seenNanos;

    /** How many threads are telling the handler of the grant right now. */
    int telling;

    boolean isTold;
    boolean isGoneMeanwhile;

    Granted(Session session, OwnNode node, Moment from, long seenNanos) {
      this.session = session;
      this.node = node;
      this.from = from;
      this.seenNanos = seenNanos;
    }

    @Override
    public Session session() {
      return session;
    }

    @Override
    public OwnNode node() {
      return node;
    }
  }

  /** An answer is missing: there may be a node, and it may be of the living session. */
  record Unknown(@Nullable Session session, @Nullable OwnNode node) implements ClaimState {}

  /** The node is being deleted. */
  record Leaving(@Nullable Session session, @Nullable OwnNode node) implements ClaimState {}

  /** There is no node. */
  record Over() implements ClaimState {}
}
