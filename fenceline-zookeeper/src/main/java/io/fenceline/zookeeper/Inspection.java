package io.fenceline.zookeeper;

import io.fenceline.spi.NameState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Who holds a name and who waits, read from the nodes and their data. */
final class Inspection {
  private static final int NAMES_AT_ONCE = 64;

  private final ZooKeeperLockStore store;
  private final Session session;
  private final Calls calls;

  Inspection(ZooKeeperLockStore store, Session session) {
    this.store = store;
    this.session = session;
    this.calls = new Calls(session);
  }

  CompletableFuture<NameState> inspect(String name) {
    return read(name, calls.newestChildren(store.paths.of(name)));
  }

  private CompletableFuture<NameState> read(String name, CompletableFuture<List<String>> children) {
    String parent = store.paths.of(name);
    return children
        .thenCompose(found -> store.line(session, parent, Line.parse(found)))
        .thenCompose(
            line ->
                all(line.places(), place -> calls.read(parent + "/" + place.node()))
                    .thenApply(nodes -> state(name, line, nodes)));
  }

  private static NameState state(String name, Line line, List<Calls.@Nullable Node> nodes) {
    List<NameState.Holder> holders = new ArrayList<>();
    List<NameState.Waiter> waiters = new ArrayList<>();
    int granted = line.granted();
    for (int i = 0; i < nodes.size(); i++) {
      Calls.Node node = nodes.get(i);
      Place place = line.places().get(i);
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
  CompletableFuture<Boolean> forceRelease(String name, long number) {
    String parent = store.paths.of(name);
    return calls
        .newestChildren(parent)
        .thenCompose(found -> store.line(session, parent, Line.parse(found)))
        .thenCompose(
            line -> {
              List<Place> granted = line.places().subList(0, line.granted());
              return all(granted, place -> calls.read(parent + "/" + place.node()))
                  .thenCompose(
                      nodes -> {
                        for (int i = 0; i < nodes.size(); i++) {
                          Calls.Node node = nodes.get(i);
                          if (node != null && node.stat().getCzxid() == number) {
                            return calls.delete(parent + "/" + granted.get(i).node());
                          }
                        }
                        return CompletableFuture.completedFuture(false);
                      });
            });
  }

  // All names. ----------------------------------------------------------------------------------

  CompletableFuture<List<NameState>> list(String prefix, int limit) {
    return calls
        .newestChildren(store.paths.locks)
        .thenCompose(
            shards ->
                calls.childrenOfAll(
                    shards.stream().map(shard -> store.paths.locks + "/" + shard).toList()))
        .thenCompose(
            folders -> {
              List<String> names = new ArrayList<>();
              for (List<String> folder : folders) {
                for (String component : folder) {
                  String name = Paths.unescape(component);
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
    return calls
        .childrenOfAll(some.stream().map(store.paths::of).toList())
        .thenCompose(
            children -> {
              List<CompletableFuture<NameState>> states = new ArrayList<>();
              for (int i = 0; i < some.size(); i++) {
                if (!children.get(i).isEmpty()) {
                  states.add(read(some.get(i), CompletableFuture.completedFuture(children.get(i))));
                }
              }
              return all(states, state -> state);
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

  static <A, B extends @Nullable Object> CompletableFuture<List<B>> all(
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
