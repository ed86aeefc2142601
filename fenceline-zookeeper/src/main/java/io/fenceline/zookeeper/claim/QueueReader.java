package io.fenceline.zookeeper.claim;

import io.fenceline.spi.StoreContext;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.QueueNode;
import io.fenceline.zookeeper.session.Requests;
import io.fenceline.zookeeper.session.Session;
import io.fenceline.zookeeper.session.Sessions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;

/**
 * Lists the queues of names: at once for one claim, and one list for many claims of the same name.
 *
 * <p>A list is as long as its queue. If each of ten thousand waiters listed the queue for itself, a
 * hundred million nodes would be sent. So at most one list per name is under way, and claims that
 * come meanwhile share the next one: the number of lists grows with time, not with claims.
 */
public final class QueueReader {
  /*
   * What would break it, and why it can't:
   *
   * - A list from before the asker's node was created, or before the deletion that it was told of: a
   *   claim joins only lists that are sent after it has asked, and a session's requests are processed
   *   in order.
   * - Two holders because of an old list: claims join a queue at its end, and those ahead only leave.
   *   If a list that has the own node shows nobody in the way, nobody ever will be. A node that it does
   *   show may be gone; that costs a wait until the watch of that node tells.
   * - A poll that concludes from an older list that its own node was removed: a poll comes a lease
   *   after the node was last seen in the queue, and takes a list of the last quarter of that lease and
   *   of the current connection. Had the node been removed since, its watch would have told.
   * - An asker that is never answered: ZooKeeper's client answers each request, if only with the loss
   *   of the connection, and each answer sends the next list. And claims that are not answered in time
   *   fail, and then look for their nodes themselves.
   * - Askers of an old session behind a list of a new one: lists are kept apart by session.
   */
  private static final int OK = KeeperException.Code.OK.intValue();

  /** The length from which a queue is kept; shorter ones are listed again. */
  private static final int WORTH_KEEPING = 100;

  /** The outcome of a list. */
  sealed interface Listed {
    /**
     * The queue of a name.
     *
     * @param connection the connection that the list was requested on, or an earlier one
     */
    record Queue(LockQueue queue, int connection) implements Listed {}

    /** There was no answer. */
    record Failed(RuntimeException cause) implements Listed {}
  }

  /** Compared at each list: by code of its own, since that of records is slow until compiled. */
  private record Key(Session session, String folder) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && key.session == session && key.folder.equals(folder);
    }

    @Override
    public int hashCode() {
      return folder.hashCode();
    }
  }

  /** A queue, and when and on which connection it was requested. */
  private record Known(LockQueue queue, Sent sent) {}

  /** When a request was sent, and on which connection, or an earlier one. */
  private record Sent(long nanos, int connection) {}

  private final StoreContext context;
  private final Sessions sessions;

  // Guarded by this.
  private final Map<Key, List<Consumer<Listed>>> underWay = new HashMap<>();
  private final Map<Key, Known> kept = new HashMap<>();

  public QueueReader(StoreContext context, Sessions sessions) {
    this.context = context;
    this.sessions = sessions;
  }

  /** Lists a queue, as it is after all earlier requests. */
  void list(Session on, String folder, Consumer<Listed> asker) {
    Key key = new Key(on, folder);
    synchronized (this) {
      List<Consumer<Listed>> next = underWay.get(key);
      if (next != null) {
        next.add(asker);
        return;
      }
      underWay.put(key, new ArrayList<>(0));
    }
    send(key, List.of(asker));
  }

  /** As {@link #list}, or gives a list that is not older than this. */
  void poll(Session on, String folder, long maxAgeNanos, Consumer<Listed> asker) {
    Known last;
    synchronized (this) {
      last = kept.get(new Key(on, folder));
    }
    if (last != null
        && last.sent.connection == on.connection()
        && context.time().nanos() - last.sent.nanos <= maxAgeNanos) {
      asker.accept(new Listed.Queue(last.queue, last.sent.connection));
    } else {
      list(on, folder, asker);
    }
  }

  private void send(Key key, List<Consumer<Listed>> askers) {
    Sent sent = new Sent(context.time().nanos(), key.session.connection());
    AsyncCallback.ChildrenCallback listed =
        (code, asked, ignored, children) -> {
          sendNext(key);
          if (code == OK) {
            order(
                key.session,
                key.folder,
                sent.connection,
                LockQueue.parse(children),
                read -> keep(key, sent, askers, read));
          } else {
            String name = Layout.nameOf(key.folder);
            tell(
                askers,
                new Listed.Failed(key.session.failure("Listing lock '" + name + "'", code)));
          }
        };
    key.session.zk.getChildren(key.folder, false, listed, null);
  }

  private void sendNext(Key key) {
    List<Consumer<Listed>> next;
    synchronized (this) {
      next = underWay.remove(key);
      if (next == null || next.isEmpty()) {
        return;
      }
      underWay.put(key, new ArrayList<>(0));
    }
    send(key, next);
  }

  private void keep(Key key, Sent sent, List<Consumer<Listed>> askers, Listed listed) {
    synchronized (this) {
      if (listed instanceof Listed.Queue known && known.queue().nodes().size() >= WORTH_KEEPING) {
        kept.put(key, new Known(known.queue(), sent));
      } else {
        kept.remove(key);
      }
    }
    tell(askers, listed);
  }

  private static void tell(List<Consumer<Listed>> askers, Listed listed) {
    askers.forEach(asker -> asker.accept(listed));
  }

  /** Forgets lists that were requested before then. */
  public synchronized void forgetBefore(long nanos) {
    kept.values().removeIf(last -> last.sent.nanos - nanos < 0);
  }

  // Order. --------------------------------------------------------------------------------------

  /** Sorts listed nodes into their order. */
  void order(
      Session on, String folder, int connection, List<QueueNode> nodes, Consumer<Listed> asker) {
    if (LockQueue.areSequencesSound(nodes)) {
      asker.accept(new Listed.Queue(LockQueue.bySequence(nodes), connection));
      return;
    }
    CompletableFuture<LockQueue> unused =
        byCreation(on, folder, nodes)
            .whenComplete(
                (queue, failure) ->
                    asker.accept(
                        queue != null
                            ? new Listed.Queue(queue, connection)
                            : new Listed.Failed(sessions.meaning(failure))));
  }

  /** Returns the queue of some nodes, by sequence or czxid. */
  public static CompletableFuture<LockQueue> inOrder(
      Session session, String folder, List<QueueNode> nodes) {
    return LockQueue.areSequencesSound(nodes)
        ? CompletableFuture.completedFuture(LockQueue.bySequence(nodes))
        : byCreation(session, folder, nodes);
  }

  /** Reads the czxids, where sequences do not give the order; see {@link LockQueue}. */
  private static CompletableFuture<LockQueue> byCreation(
      Session session, String folder, List<QueueNode> nodes) {
    Requests requests = new Requests(session);
    return Requests.all(nodes, node -> requests.read(folder + "/" + node.name()))
        .thenApply(
            read -> {
              Map<String, Long> czxids = new HashMap<>();
              for (int i = 0; i < read.size(); i++) {
                Requests.Node node = read.get(i);
                if (node != null) {
                  czxids.put(nodes.get(i).name(), node.stat().getCzxid());
                }
              }
              return LockQueue.byCreation(nodes, czxids);
            });
  }
}
