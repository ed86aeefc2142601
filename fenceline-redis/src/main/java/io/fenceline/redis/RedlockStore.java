package io.fenceline.redis;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Locks on independent Redis servers, of which a majority decides, for a client to be connected to.
 *
 * <pre>{@code
 * Fenceline fenceline =
 *     Fenceline.builder()
 *         .store(RedlockStore.at("redlock://a:6379,b:6379,c:6379,d:6379,e:6379"))
 *         .connect();
 * }</pre>
 *
 * <p>The servers must not be replicas of each other, nor be replaced by replicas. An acquire costs
 * two rounds, each to all servers at once, a release one. What this gives, and what it does not, is
 * in {@code docs/redlock.md}.
 */
public final class RedlockStore implements StoreFactory {
  /** How long a server has to answer, unless told otherwise. */
  public static final Duration DEFAULT_NODE_TIMEOUT = Duration.ofMillis(50);

  private static final int FEWEST = 3;
  private static final int MOST = 15;
  private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

  private final Settings settings;
  private final Duration nodeTimeout;

  /**
   * Where the servers are.
   *
   * @param description for messages, without secrets
   */
  record Settings(List<RedisURI> uris, ClientOptions options, String description) {}

  RedlockStore(Settings settings, Duration nodeTimeout) {
    this.settings = settings;
    this.nodeTimeout = nodeTimeout;
  }

  /**
   * Locks at a URI: {@code redlock://[user:password@]host[:6379],host…[/db]}, with the parameters
   * {@code nodeTimeout}, {@code tls}, {@code tlsCa} and {@code tlsVerify}.
   *
   * @throws InvalidSettingException if it is not one
   */
  public static RedlockStore at(String uri) {
    return new RedisAddress(StoreAddress.parse(uri)).redlock();
  }

  /**
   * The same, with another time for a server to answer. An attempt goes on without those that are
   * slower. It is never more than a tenth of a lease.
   */
  public RedlockStore nodeTimeout(Duration timeout) {
    return new RedlockStore(settings, Durations.checkPositive("nodeTimeout", timeout));
  }

  static Guarantees guarantees() {
    return new Guarantees(
        "redlock",
        EnumSet.complementOf(EnumSet.of(Guarantee.LINEARIZABLE, Guarantee.FAIR)),
        Certainty.UNKNOWN,
        SHORTEST_LEASE,
        Durations.LONGEST,
        "a minority of the servers may forget everything; for a majority at once, "
            + CrashSafety.BY_ITS_SETTINGS,
        "locks survive the failure of any minority of the servers; one that was restarted or emptied"
            + " does not vote until the longest lease has passed. If a majority loses its memory at"
            + " once, locks may be given again, with larger tokens",
        "a clock set forward ends leases at that server early by as much; if that leaves a holder"
            + " without a majority, another one may come before it has noticed; a server that was"
            + " restarted votes early by as much; a clock set back keeps a name closed for one lease"
            + " more; tokens rise",
        "an emptied server takes over the counters of a majority; if a majority is emptied, tokens go"
            + " on from the servers' clocks and from what clients have seen");
  }

  @Override
  public LockStore open(StoreContext context) {
    int count = settings.uris.size();
    if (count < FEWEST || count > MOST) {
      throw new InvalidSettingException(
          "nodes of a Redlock", count, "it has " + FEWEST + " to " + MOST + ", better five");
    }
    Driver driver = new Driver(null, settings.options, context.connectTimeout());
    Deadlines deadlines = new Deadlines(context.time(), context.operationTimeout().toNanos());
    String channel = Layout.channel(HexFormat.of().toHexDigits(context.random().nextLong()));
    @Nullable RedlockLockStore[] opened = new RedlockLockStore[1];
    List<RedlockNode> nodes = new ArrayList<>();
    RedlockRuns runs = new RedlockRuns();
    for (RedisURI uri : settings.uris) {
      nodes.add(
          new RedlockNode(
              nodes.size(),
              uri,
              driver,
              context,
              deadlines,
              runs,
              (node, name) -> {
                RedlockLockStore store = opened[0];
                if (store != null) {
                  store.told(node, name);
                }
              }));
    }
    RedlockLockStore store =
        new RedlockLockStore(
            new RedlockNodes(nodes, context, settings.description, nodeTimeout),
            guarantees(),
            driver,
            channel);
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
  private void connect(RedlockLockStore store, StoreContext context) {
    List<RedlockNode> nodes = store.nodes().all;
    long began = System.nanoTime();
    Map<RedlockNode, Throwable> failures = new ConcurrentHashMap<>();
    List<CompletableFuture<Void>> trials = new ArrayList<>();
    for (RedlockNode node : nodes) {
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
    Connecting.await(all, context, settings.description);
    List<RedlockNode> reached = nodes.stream().filter(n -> n.server().isConnected()).toList();
    failures.forEach(RedlockStore::checkDistinct);
    int refused = 0;
    List<String> missing = new ArrayList<>();
    List<Topology> admitted = new ArrayList<>();
    for (RedlockNode node : nodes) {
      if (!reached.contains(node)) {
        Throwable failure = failures.get(node);
        refused += Failures.isRefusal(failure) ? 1 : 0;
        String why = failure == null ? "no connection in time" : Failures.words(failure);
        missing.add(node.address + " (" + why + ")");
        continue;
      }
      try {
        SingleTopology single = new SingleTopology(node.server(), context, "");
        Admission.check(
            single, true, Durability.NONE, Connecting.left(context, began), node.address);
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
                  settings.description),
          failures.values().stream().findFirst().orElse(null));
    }
    if (admitted.size() < store.nodes().majority) {
      throw new StoreUnavailableException(
          settings.description,
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
    Connecting.await(admitting, context, settings.description);
  }

  private Guarantees crashSafety(
      Guarantees usual, List<Topology> admitted, List<String> missing, StoreContext context) {
    Guarantees found = CrashSafety.of(usual, admitted, context, settings.description);
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

  private static void checkDistinct(RedlockNode node, Throwable failure) {
    if (failure instanceof RedlockRuns.SameServerException) {
      throw new InvalidSettingException(
          "nodes of a Redlock", node.address, "this server is listed twice; list each once");
    }
  }

  @Override
  public String toString() {
    return settings.description;
  }
}
