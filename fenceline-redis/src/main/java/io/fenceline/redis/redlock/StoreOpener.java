package io.fenceline.redis.redlock;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.redis.connection.Connecting;
import io.fenceline.redis.connection.Driver;
import io.fenceline.redis.connection.Failures;
import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.redis.connection.ReplyTimeouts;
import io.fenceline.redis.connection.SingleTopology;
import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.diagnostics.CrashSafety;
import io.fenceline.redis.diagnostics.ServerCheck;
import io.fenceline.redis.layout.Layout;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreContext;
import io.lettuce.core.RedisURI;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Opens a Redlock: connects to its servers, and makes sure that a majority of them can be used. */
public final class StoreOpener {
  private static final int FEWEST = 3;
  private static final int MOST = 15;

  private final RedlockSettings settings;

  public StoreOpener(RedlockSettings settings) {
    this.settings = settings;
  }

  /**
   * Opens a store.
   *
   * @throws InvalidSettingException if there are too few or too many servers, or one is listed
   *     twice
   * @throws StoreUnavailableException if too few can be reached
   * @throws StoreRefusedException if too many refuse what we need
   */
  public LockStore open(StoreContext context) {
    int count = settings.uris().size();
    if (count < FEWEST || count > MOST) {
      throw new InvalidSettingException(
          "nodes of a Redlock",
          count,
          "a Redlock has " + FEWEST + " to " + MOST + ", five are recommended");
    }
    Driver driver = new Driver(null, settings.options(), context.connectTimeout());
    ReplyTimeouts deadlines =
        new ReplyTimeouts(context.time(), context.operationTimeout().toNanos());
    String channel = Layout.channel(HexFormat.of().toHexDigits(context.random().nextLong()));
    @Nullable RedlockStore[] opened = new RedlockStore[1];
    List<Node> nodes = new ArrayList<>();
    DistinctServers runs = new DistinctServers();
    for (RedisURI uri : settings.uris()) {
      nodes.add(
          new Node(
              nodes.size(),
              uri,
              driver,
              context,
              deadlines,
              runs,
              (node, name) -> {
                RedlockStore store = opened[0];
                if (store != null) {
                  store.told(node, name);
                }
              }));
    }
    RedlockStore store = new RedlockStore(new Nodes(nodes, context, settings), driver, channel);
    opened[0] = store;
    try {
      connect(store, context);
      return store;
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
  }

  /** Waits for all servers, but not longer than needed for those that are slow. */
  private void connect(RedlockStore store, StoreContext context) {
    List<Node> nodes = store.nodes().all;
    long began = System.nanoTime();
    Map<Node, Throwable> failures = new ConcurrentHashMap<>();
    List<CompletableFuture<Void>> trials = new ArrayList<>();
    for (Node node : nodes) {
      trials.add(
          node.server()
              .connect()
              .exceptionally(
                  failure -> {
                    Throwable cause = Failures.unwrapped(failure);
                    if (cause != null) {
                      failures.put(node, cause);
                    }
                    return null;
                  }));
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(trials.toArray(CompletableFuture<?>[]::new));
    long half = context.connectTimeout().toNanos() / 2;
    context.time().schedule(half, () -> all.complete(null));
    Connecting.await(all, context, settings.description());
    List<Node> reached = nodes.stream().filter(n -> n.server().isConnected()).toList();
    failures.forEach(StoreOpener::checkDistinct);
    int refused = 0;
    List<String> missing = new ArrayList<>();
    List<Topology> admitted = new ArrayList<>();
    for (Node node : nodes) {
      if (!reached.contains(node)) {
        Throwable failure = failures.get(node);
        refused += Failures.isRefusal(failure) ? 1 : 0;
        String why = failure == null ? "no connection in time" : Failures.words(failure);
        missing.add(node.address + " (" + why + ")");
        continue;
      }
      try {
        SingleTopology single = new SingleTopology(node.server(), context, "");
        ServerCheck.check(
            single, true, ReplicaWait.NONE, Connecting.left(context, began), node.address);
        admitted.add(new SingleTopology(node.server(), context, ""));
      } catch (StoreUnavailableException e) { // It may be back later.
        missing.add(node.address + " (" + e.getMessage() + ")");
      } catch (StoreRefusedException e) {
        refused++;
        missing.add(node.address + " (" + e.getMessage() + ")");
      }
    }
    if (refused > store.nodes().spare()) {
      throw new StoreRefusedException(
          "Connecting failed: %d of %d nodes refused, and %d are needed; missing: %s (store=%s)"
              .formatted(
                  refused,
                  nodes.size(),
                  store.nodes().majority,
                  String.join(", ", missing),
                  settings.description()),
          failures.values().stream().findFirst().orElse(null));
    }
    if (admitted.size() < store.nodes().majority) {
      throw new StoreUnavailableException(
          settings.description(),
          "%d of %d nodes were reached, and %d are needed; missing: %s"
              .formatted(
                  admitted.size(),
                  nodes.size(),
                  store.nodes().majority,
                  String.join(", ", missing)),
          null);
    }
    store.promise(crashSafety(store.guarantees(), admitted, missing, context));
    CompletableFuture<Void> admitting = store.recovery().startAndAwait();
    context.time().schedule(half / 2, () -> admitting.complete(null)); // Goes on without us.
    Connecting.await(admitting, context, settings.description());
  }

  private Guarantees crashSafety(
      Guarantees usual, List<Topology> admitted, List<String> missing, StoreContext context) {
    Guarantees found = CrashSafety.of(usual, admitted, context, settings.description());
    if (found.durable() == Certainty.YES && !missing.isEmpty()) {
      return found.durable(
          Certainty.UNKNOWN, "not all servers could be asked: " + String.join(", ", missing));
    }
    return found.durable() == Certainty.YES
        ? found
        : found.durable(
            found.durable(),
            "where a majority of the servers crashes at once or runs short of memory, "
                + found.onCrash());
  }

  private static void checkDistinct(Node node, Throwable failure) {
    if (failure instanceof DistinctServers.SameServerException) {
      throw new InvalidSettingException(
          "nodes of a Redlock", node.address, "this server is listed twice; list each once");
    }
  }
}
