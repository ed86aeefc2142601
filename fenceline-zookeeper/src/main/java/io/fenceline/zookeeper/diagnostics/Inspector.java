package io.fenceline.zookeeper.diagnostics;

import io.fenceline.spi.NameState;
import io.fenceline.zookeeper.claim.LockQueue;
import io.fenceline.zookeeper.claim.QueueReader;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.NodeData;
import io.fenceline.zookeeper.layout.QueueNode;
import io.fenceline.zookeeper.session.Requests;
import io.fenceline.zookeeper.session.Session;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Who holds a name and who waits, read from the nodes and their data. */
public final class Inspector {
  private static final int NAMES_AT_ONCE = 64;

  private final Layout layout;
  private final Session session;
  private final Requests requests;

  public Inspector(Layout layout, Session session) {
    this.layout = layout;
    this.session = session;
    this.requests = new Requests(session);
  }

  public CompletableFuture<NameState> inspect(String name) {
    return read(name, requests.newestChildren(layout.of(name)));
  }

  private CompletableFuture<NameState> read(String name, CompletableFuture<List<String>> children) {
    String parent = layout.of(name);
    return children
        .thenCompose(found -> QueueReader.inOrder(session, parent, LockQueue.parse(found)))
        .thenCompose(
            queue ->
                Requests.all(queue.nodes(), node -> requests.read(parent + "/" + node.name()))
                    .thenApply(nodes -> state(name, queue, nodes)));
  }

  private static NameState state(
      String name, LockQueue queue, List<Requests.@Nullable Node> nodes) {
    List<NameState.Holder> holders = new ArrayList<>();
    List<NameState.Waiter> waiters = new ArrayList<>();
    int granted = queue.granted();
    for (int i = 0; i < nodes.size(); i++) {
      Requests.Node node = nodes.get(i);
      QueueNode place = queue.nodes().get(i);
      if (node == null) {
        continue; // Left while we were reading.
      }
      NodeData data = node.data();
      Instant since = Instant.ofEpochMilli(node.stat().getCtime());
      if (i < granted) {
        holders.add(
            new NameState.Holder(
                place.ownerId(),
                data.client(),
                place.mode(),
                node.stat().getCzxid(),
                since,
                Duration.ofMillis(data.sessionMillis())));
      } else if (place.waits()) {
        waiters.add(new NameState.Waiter(place.ownerId(), data.client(), place.mode(), since));
      }
    }
    return new NameState(name, holders, waiters);
  }

  /** Deletes the node of a grant by its number. */
  public CompletableFuture<Boolean> forceRelease(String name, long number) {
    String parent = layout.of(name);
    return requests
        .newestChildren(parent)
        .thenCompose(found -> QueueReader.inOrder(session, parent, LockQueue.parse(found)))
        .thenCompose(
            queue -> {
              List<QueueNode> granted = queue.nodes().subList(0, queue.granted());
              return Requests.all(granted, node -> requests.read(parent + "/" + node.name()))
                  .thenCompose(
                      nodes -> {
                        for (int i = 0; i < nodes.size(); i++) {
                          Requests.Node node = nodes.get(i);
                          if (node != null && node.stat().getCzxid() == number) {
                            return requests.delete(parent + "/" + granted.get(i).name());
                          }
                        }
                        return CompletableFuture.completedFuture(false);
                      });
            });
  }

  // All names. ----------------------------------------------------------------------------------

  public CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return requests
        .newestChildren(layout.locks)
        .thenCompose(
            shards ->
                requests.childrenOfAll(
                    shards.stream().map(shard -> layout.locks + "/" + shard).toList()))
        .thenCompose(
            folders -> {
              List<String> names = new ArrayList<>();
              for (List<String> folder : folders) {
                for (String component : folder) {
                  String name = Layout.unescape(component);
                  if (name.startsWith(prefix)) {
                    names.add(name);
                  }
                }
              }
              names.sort((a, b) -> Arrays.compareUnsigned(utf8(a), utf8(b)));
              return states(names, 0, limit, new ArrayList<>());
            });
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Some names after the other; many containers are empty, and wait to be removed. */
  private CompletableFuture<List<NameState>> states(
      List<String> names, int from, int limit, List<NameState> found) {
    if (from >= names.size() || found.size() >= limit) {
      return CompletableFuture.completedFuture(List.copyOf(found));
    }
    int to = Math.min(names.size(), from + NAMES_AT_ONCE);
    List<String> some = names.subList(from, to);
    return requests
        .childrenOfAll(some.stream().map(layout::of).toList())
        .thenCompose(
            children -> {
              List<CompletableFuture<NameState>> states = new ArrayList<>();
              for (int i = 0; i < some.size(); i++) {
                if (!children.get(i).isEmpty()) {
                  states.add(read(some.get(i), CompletableFuture.completedFuture(children.get(i))));
                }
              }
              return Requests.all(states, state -> state);
            })
        .thenCompose(
            states -> {
              for (NameState state : states) {
                boolean used = !state.holders().isEmpty() || !state.waiters().isEmpty();
                if (used && found.size() < limit) {
                  found.add(state);
                }
              }
              return states(names, to, limit, found);
            });
  }
}
