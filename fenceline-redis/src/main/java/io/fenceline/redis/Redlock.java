package io.fenceline.redis;

import io.fenceline.Guarantee;
import io.fenceline.Guarantees;
import io.fenceline.InvalidSettingException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.Durations;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Locks on independent Redis servers, of which a majority decides, for a client to be connected to.
 *
 * <pre>{@code
 * Fenceline fenceline =
 *     Fenceline.builder()
 *         .store(Redlock.at("redlock://a:6379,b:6379,c:6379,d:6379,e:6379"))
 *         .connect();
 * }</pre>
 *
 * <p>The servers must not be replicas of each other, nor be replaced by replicas. An acquire costs
 * two rounds, each to all servers at once, a release one. What this gives, and what it does not, is
 * in {@code docs/redlock.md}.
 */
public final class Redlock implements StoreFactory {
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

  Redlock(Settings settings, Duration nodeTimeout) {
    this.settings = settings;
    this.nodeTimeout = nodeTimeout;
  }

  /**
   * Locks at a URI: {@code redlock://[user:password@]host[:6379],host…[/db]}, with the parameters
   * {@code nodeTimeout}, {@code tls}, {@code tlsCa} and {@code tlsVerify}.
   *
   * @throws InvalidSettingException if it is not one
   */
  public static Redlock at(String uri) {
    return new RedisAddress(StoreAddress.parse(uri)).redlock();
  }

  /**
   * The same, with another time for a server to answer. An attempt goes on without those that are
   * slower. It is never more than a tenth of a lease.
   */
  public Redlock nodeTimeout(Duration timeout) {
    return new Redlock(settings, Durations.checkPositive("nodeTimeout", timeout));
  }

  static Guarantees guarantees() {
    return new Guarantees(
        "redlock",
        EnumSet.complementOf(EnumSet.of(Guarantee.LINEARIZABLE, Guarantee.FAIR)),
        SHORTEST_LEASE,
        Durations.LONGEST,
        "locks survive the failure of any minority of the servers; one that was restarted or emptied"
            + " does not vote until the longest lease has passed. If a majority loses its memory at"
            + " once, locks may be given again, with larger tokens",
        "a clock set forward ends leases at that server early by as much; if that leaves a holder"
            + " without a majority, another one may come before it has noticed; a clock set back keeps"
            + " a name closed for one lease more; tokens rise",
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
    @Nullable RedlockStore[] opened = new RedlockStore[1];
    List<RedlockNode> nodes = new ArrayList<>();
    for (RedisURI uri : settings.uris) {
      nodes.add(
          new RedlockNode(
              nodes.size(),
              uri,
              driver,
              context,
              deadlines,
              (node, name) -> {
                RedlockStore store = opened[0];
                if (store != null) {
                  store.told(node, name);
                }
              }));
    }
    RedlockStore store =
        new RedlockStore(
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
  private void connect(RedlockStore store, StoreContext context) {
    List<RedlockNode> nodes = store.nodes().all;
    List<CompletableFuture<Void>> trials = new ArrayList<>();
    for (RedlockNode node : nodes) {
      trials.add(node.server().connect().exceptionally(failure -> null));
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(trials.toArray(CompletableFuture<?>[]::new));
    long half = context.connectTimeout().toNanos() / 2;
    context.time().schedule(half, () -> all.complete(null));
    Connecting.await(all, context, settings.description);
    List<RedlockNode> reached = nodes.stream().filter(n -> n.server().isConnected()).toList();
    checkDistinct(reached);
    List<String> missing = new ArrayList<>();
    int admitted = 0;
    for (RedlockNode node : nodes) {
      if (!reached.contains(node)) {
        missing.add(node.address + " (no connection)");
      } else if (isFit(node, context, missing)) {
        admitted++;
      }
    }
    if (admitted < store.nodes().majority) {
      throw new StoreUnavailableException(
          settings.description,
          "%d of %d nodes were reached, and %d are needed; missing: %s"
              .formatted(
                  admitted, nodes.size(), store.nodes().majority, String.join(", ", missing)),
          null);
    }
    RedlockRecovery recovery = store.recovery();
    recovery.again(Connecting.await(recovery.run(), context, settings.description));
  }

  /** Whether a server can be used; one that does not answer now may be back later. */
  private static boolean isFit(RedlockNode node, StoreContext context, List<String> missing) {
    try {
      SingleTopology single = new SingleTopology(node.server(), context, "");
      Admission.check(single, true, Durability.NONE, context, node.address);
      return true;
    } catch (StoreUnavailableException e) {
      missing.add(node.address + " (" + e.getMessage() + ")");
      return false;
    }
  }

  private static void checkDistinct(List<RedlockNode> reached) {
    Set<String> runs = new HashSet<>();
    for (RedlockNode node : reached) {
      String run = node.lastRun();
      if (run != null && !runs.add(run)) {
        throw new InvalidSettingException(
            "nodes of a Redlock", node.address, "this server is listed twice; list each once");
      }
    }
  }

  @Override
  public String toString() {
    return settings.description;
  }
}
