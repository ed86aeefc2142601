package io.fenceline.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * ZooKeeper's requests as futures, for everything but the way of an uncontended claim. A node that
 * is not there is an answer, not a failure.
 */
final class Calls {
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();

  private final Session session;

  Calls(Session session) {
    this.session = session;
  }

  /**
   * A node as it was read.
   *
   * @param data what it says of its client
   * @param stat what ZooKeeper knows of it
   */
  record Node(NodeData data, Stat stat) {}

  /** The children of a node; none if it is not there. */
  CompletableFuture<List<String>> children(String path) {
    CompletableFuture<List<String>> answer = new CompletableFuture<>();
    AsyncCallback.ChildrenCallback heard =
        (code, asked, context, children) -> {
          if (code == OK) {
            answer.complete(children);
          } else if (code == NO_NODE) {
            answer.complete(List.of());
          } else {
            answer.completeExceptionally(session.failure("Listing " + path, code));
          }
        };
    session.zk.getChildren(path, false, heard, null);
    return answer;
  }

  /** The children, up to date with everything that was done before anywhere. */
  CompletableFuture<List<String>> newestChildren(String path) {
    CompletableFuture<Void> synced = new CompletableFuture<>();
    AsyncCallback.VoidCallback heard =
        (code, asked, context) -> {
          if (code == OK) {
            synced.complete(null);
          } else {
            synced.completeExceptionally(session.failure("Syncing " + path, code));
          }
        };
    session.zk.sync(path, heard, null);
    return children(path).thenCombine(synced, (children, done) -> children);
  }

  /** A node and its data; null if it is not there. */
  CompletableFuture<@Nullable Node> read(String path) {
    CompletableFuture<@Nullable Node> answer = new CompletableFuture<>();
    AsyncCallback.DataCallback heard =
        (code, asked, context, data, stat) -> {
          if (code == OK) {
            answer.complete(new Node(NodeData.parse(data), stat));
          } else if (code == NO_NODE) {
            answer.complete(null);
          } else {
            answer.completeExceptionally(session.failure("Reading " + path, code));
          }
        };
    session.zk.getData(path, false, heard, null);
    return answer;
  }

  /** Deletes a node; false if it was not there. */
  CompletableFuture<Boolean> delete(String path) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    AsyncCallback.VoidCallback heard =
        (code, asked, context) -> {
          if (code == OK || code == NO_NODE) {
            answer.complete(code == OK);
          } else {
            answer.completeExceptionally(session.failure("Deleting " + path, code));
          }
        };
    session.zk.delete(path, -1, heard, null);
    return answer;
  }
}
