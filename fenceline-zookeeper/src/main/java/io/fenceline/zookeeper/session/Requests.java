package io.fenceline.zookeeper.session;

import io.fenceline.zookeeper.layout.NodeData;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * ZooKeeper's requests as futures, for whatever does not depend on the order of events: what is
 * attached to a future may run on another thread than ZooKeeper's event thread. A node that does
 * not exist is an answer, not a failure.
 */
public final class Requests {
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();
  private static final int UNIMPLEMENTED = KeeperException.Code.UNIMPLEMENTED.intValue();

  /** An answer of a megabyte breaks the connection; the longest names take three times this. */
  private static final int LONGEST_ANSWER = 300_000;

  private static final int BYTES_OF_CHILD = 200;

  private final Session session;

  public Requests(Session session) {
    this.session = session;
  }

  /**
   * A node as it was read.
   *
   * @param data what it says of its client
   * @param stat what ZooKeeper knows of it
   */
  public record Node(NodeData data, Stat stat) {}

  /** The children of a node; none if it is not there. */
  public CompletableFuture<List<String>> children(String path) {
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

  /**
   * The children of each of these nodes, in few requests: first how many each has, then those of as
   * many nodes together as fit into an answer. None of a node that is not there.
   */
  public CompletableFuture<List<List<String>>> childrenOfAll(List<String> paths) {
    if (paths.isEmpty()) {
      return CompletableFuture.completedFuture(List.of());
    }
    return multi(paths.stream().map(Op::getData).toList())
        .thenCompose(
            stats -> {
              if (stats == null) { // A server before 3.6.
                return all(paths, this::children);
              }
              List<List<String>> parts = new ArrayList<>();
              long bytes = 0;
              for (int i = 0; i < paths.size(); i++) {
                int count = childCount(paths.get(i), stats.get(i));
                if (count == 0) {
                  continue;
                }
                bytes += (long) count * BYTES_OF_CHILD;
                if (parts.isEmpty() || bytes > LONGEST_ANSWER) {
                  parts.add(new ArrayList<>());
                  bytes = (long) count * BYTES_OF_CHILD;
                }
                parts.get(parts.size() - 1).add(paths.get(i));
              }
              return all(parts, this::childrenOfSome)
                  .thenApply(
                      found -> {
                        Map<String, List<String>> byPath = new HashMap<>();
                        found.forEach(byPath::putAll);
                        return paths.stream()
                            .map(path -> byPath.getOrDefault(path, List.of()))
                            .toList();
                      });
            });
  }

  private int childCount(String path, OpResult read) {
    if (read instanceof OpResult.GetDataResult found) {
      return found.getStat().getNumChildren();
    }
    checkNotThere(path, read);
    return 0;
  }

  /** The children of nodes that together fit into an answer; one alone is asked for by itself. */
  private CompletableFuture<Map<String, List<String>>> childrenOfSome(List<String> paths) {
    if (paths.size() == 1) {
      return children(paths.get(0)).thenApply(found -> Map.of(paths.get(0), found));
    }
    return multi(paths.stream().map(Op::getChildren).toList())
        .thenApply(
            results -> {
              Map<String, List<String>> found = new HashMap<>();
              for (int i = 0; results != null && i < paths.size(); i++) {
                if (results.get(i) instanceof OpResult.GetChildrenResult read) {
                  found.put(paths.get(i), read.getChildren());
                } else {
                  checkNotThere(paths.get(i), results.get(i));
                }
              }
              return found;
            });
  }

  private void checkNotThere(String path, OpResult read) {
    int code = read instanceof OpResult.ErrorResult error ? error.getErr() : OK;
    if (code != NO_NODE) {
      throw session.failure("Reading " + path, code);
    }
  }

  /** Reads in one request; null if the server does not know it (before 3.6). */
  private CompletableFuture<@Nullable List<OpResult>> multi(List<Op> reads) {
    CompletableFuture<@Nullable List<OpResult>> answer = new CompletableFuture<>();
    AsyncCallback.MultiCallback heard =
        (code, asked, context, results) -> {
          if (results != null || code == UNIMPLEMENTED) {
            answer.complete(results);
          } else {
            answer.completeExceptionally(session.failure("Reading many nodes", code));
          }
        };
    session.zk.multi(reads, heard, null);
    return answer;
  }

  /** The children, up to date with everything that was done before anywhere. */
  public CompletableFuture<List<String>> newestChildren(String path) {
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
  public CompletableFuture<@Nullable Node> read(String path) {
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
  public CompletableFuture<Boolean> delete(String path) {
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

  /** Sends a request for each item, and completes with all answers. */
  public static <A, B extends @Nullable Object> CompletableFuture<List<B>> all(
      List<A> items, Function<A, CompletableFuture<B>> request) {
    List<CompletableFuture<B>> answers = items.stream().map(request).toList();
    return CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]))
        .thenApply(
            done -> {
              List<B> values = new ArrayList<>(answers.size());
              answers.forEach(answer -> values.add(answer.join()));
              return values;
            });
  }
}
