package io.fenceline.zookeeper.claim;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Release;
import io.fenceline.time.Moment;
import io.fenceline.zookeeper.layout.NodeData;
import io.fenceline.zookeeper.layout.QueueNode;
import io.fenceline.zookeeper.session.Requests;
import io.fenceline.zookeeper.session.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one claim: to create, watch, find and delete its node. Knows nothing of the
 * claim's state.
 *
 * <p>{@link #create} and {@link #watch} hand their result to a callback on ZooKeeper's event
 * thread, since decisions depend on the order of events. A future would not keep that order: what
 * is attached to a complete future runs on the thread that attaches it.
 */
final class ClaimRequests {
  private static final byte[] NOTHING = {};
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();

  /** The read of the node's data follows, and reports any failure. */
  private static final AsyncCallback.Children2Callback IGNORED =
      (code, path, context, children, stat) -> {};

  /** The outcome of a creation. */
  sealed interface Created {
    record Made(String path, long czxid) implements Created {}

    /** The container of the name is not there, or was removed in between. */
    record NoFolder(RuntimeException cause) implements Created {}

    record Failed(RuntimeException cause) implements Created {}
  }

  /** The outcome of a read that sets a watch. */
  sealed interface Watched {
    record There(Requests.Node node) implements Watched {}

    record Gone() implements Watched {}

    record Failed(RuntimeException cause) implements Watched {}
  }

  /**
   * The outcome of a search for an owner's node.
   *
   * @param queue all nodes of the queue, in no order
   * @param path the owner's node of the living session; null if there is none
   * @param stat the stat of that node
   */
  record Found(List<QueueNode> queue, @Nullable String path, @Nullable Stat stat) {}

  final String tag;
  final String folder;
  private final ClaimRequest request;
  private final ClaimContext context;

  ClaimRequests(ClaimRequest request, ClaimContext context) {
    this.request = request;
    this.context = context;
    this.tag = QueueNode.tagOf(request.owner());
    this.folder = context.nodes().layout.of(request.name());
  }

  String path(QueueNode node) {
    return folder + "/" + node.name();
  }

  /**
   * Creates the node.
   *
   * @param tries how many tries have failed because the container was missing; if any, this one
   *     creates it, too
   * @param sent a moment before this call
   */
  void create(Session on, int tries, Moment sent, Consumer<Created> then) {
    if (tries > 1) {
      context.nodes().createFolders(on.zk, request.name());
    }
    if (tries > 0) {
      context.nodes().createContainer(on.zk, request.name());
    }
    context
        .nodes()
        .create(
            on,
            folder,
            request,
            tag,
            (code, asked, ignored, path, stat) -> {
              if (code == OK) {
                context.heartbeat().answered(on, sent);
                then.accept(new Created.Made(path, stat.getCzxid()));
                return;
              }
              RuntimeException cause = on.failure("Claiming lock '" + request.name() + "'", code);
              then.accept(
                  code == NO_NODE ? new Created.NoFolder(cause) : new Created.Failed(cause));
            });
  }

  /** Reads a node, and watches its data and its deletion. */
  void watch(Session on, String path, Consumer<Watched> then) {
    AsyncCallback.DataCallback heard =
        (code, asked, ignored, data, stat) ->
            then.accept(
                watched(
                    on, code, code == OK ? new Requests.Node(NodeData.parse(data), stat) : null));
    on.zk.getData(path, on, heard, null);
  }

  private Watched watched(Session on, int code, Requests.@Nullable Node found) {
    if (found != null) {
      return new Watched.There(found);
    }
    return code == NO_NODE
        ? new Watched.Gone()
        : new Watched.Failed(on.failure("Watching lock '" + request.name() + "'", code));
  }

  /**
   * Watches the deletion of a node, even after its data has changed. It is sent before {@link
   * #watch}: if the node is changed and deleted between the two, the change uses up the watch of
   * the data, and nothing else would tell of the deletion.
   */
  void watchDeletion(Session on, String path) {
    on.zk.getChildren(path, on, IGNORED, null);
  }

  /** As above, for a node whose data is known already, so that {@link #watch} is not needed. */
  void watchDeletion(Session on, String path, NodeData known, Consumer<Watched> then) {
    AsyncCallback.Children2Callback heard =
        (code, asked, ignored, children, stat) ->
            then.accept(watched(on, code, code == OK ? new Requests.Node(known, stat) : null));
    on.zk.getChildren(path, on, heard, null);
  }

  /** Returns the data of that client's nodes of this name; null if none was read yet. */
  @Nullable NodeData known(QueueNode node) {
    return context.knownClients().of(folder, node);
  }

  void remember(QueueNode node, NodeData data) {
    context.knownClients().remember(folder, node, data);
  }

  CompletableFuture<Requests.@Nullable Node> read(Session on, QueueNode node) {
    return new Requests(on).read(path(node));
  }

  // Deletion. -----------------------------------------------------------------------------------

  /**
   * Deletes a node.
   *
   * @param handsOver whether to change and delete it in one step, which tells its watchers that its
   *     owner held the name, so that the next waiter need not list the queue
   */
  CompletableFuture<Release> delete(String path, boolean handsOver) {
    CompletableFuture<Release> answer = new CompletableFuture<>();
    Session on;
    try {
      on = context.sessions().current();
    } catch (StoreUnavailableException e) {
      answer.completeExceptionally(e);
      return answer;
    }
    if (handsOver) {
      AsyncCallback.MultiCallback heard =
          (code, asked, ignored, results) -> deleted(answer, on, code);
      on.zk.multi(List.of(Op.setData(path, NOTHING, -1), Op.delete(path, -1)), heard, null);
    } else {
      AsyncCallback.VoidCallback heard = (code, asked, ignored) -> deleted(answer, on, code);
      on.zk.delete(path, -1, heard, null);
    }
    return answer;
  }

  private void deleted(CompletableFuture<Release> answer, Session on, int code) {
    if (code == OK || code == NO_NODE) {
      answer.complete(code == OK ? Release.RELEASED : Release.GONE);
    } else {
      answer.completeExceptionally(on.failure("Giving back lock '" + request.name() + "'", code));
    }
  }

  /** Deletes all nodes of this owner, of whatever session. */
  CompletableFuture<Release> purge() {
    try {
      return purge(context.sessions().current());
    } catch (StoreUnavailableException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** As {@link #purge()}, through a session that need not be the current one. */
  CompletableFuture<Release> purge(Session on) {
    Requests requests = new Requests(on);
    return requests
        .newestChildren(folder)
        .thenCompose(
            children ->
                Requests.all(own(LockQueue.parse(children)), node -> requests.delete(path(node))))
        .thenApply(deleted -> deleted.contains(true) ? Release.RELEASED : Release.GONE);
  }

  // Recovery. -----------------------------------------------------------------------------------

  /**
   * Looks for a node of this owner, once every earlier request has been processed or never will be.
   * Deletes nodes of sessions that have ended, which can't be held any more.
   */
  CompletableFuture<Found> find(Session on) {
    Requests requests = new Requests(on);
    return requests
        .newestChildren(folder)
        .thenCompose(
            children -> {
              List<QueueNode> queue = LockQueue.parse(children);
              return sort(requests, on, queue, own(queue));
            });
  }

  private CompletableFuture<Found> sort(
      Requests requests, Session on, List<QueueNode> queue, List<QueueNode> own) {
    if (own.isEmpty()) {
      return CompletableFuture.completedFuture(new Found(queue, null, null));
    }
    return Requests.all(own, node -> requests.read(path(node)))
        .thenCompose(
            nodes -> {
              Found found = new Found(queue, null, null);
              List<QueueNode> dead = new ArrayList<>(0);
              for (int i = 0; i < own.size(); i++) {
                Requests.Node node = nodes.get(i);
                if (node != null && node.stat().getEphemeralOwner() == on.id()) {
                  found = new Found(queue, path(own.get(i)), node.stat());
                } else if (node != null) {
                  dead.add(own.get(i));
                }
              }
              Found result = found;
              queue.removeAll(dead);
              return Requests.all(dead, node -> requests.delete(path(node)))
                  .thenApply(deleted -> result);
            });
  }

  private List<QueueNode> own(List<QueueNode> queue) {
    return queue.stream().filter(node -> node.tag().equals(tag)).toList();
  }
}
