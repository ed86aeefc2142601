package io.fenceline.redis;

import io.fenceline.spi.Lane;
import io.fenceline.spi.StoreContext;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which master of a Cluster has which bucket, as far as we know: redirections correct it at once,
 * and whenever something goes wrong any node that answers is asked for the whole map.
 */
final class ClusterMap {
  private static final long PAUSE_NANOS = 100_000_000;

  /** Makes a server for an address, given what to do when a connection to it breaks. */
  interface Servers extends Function<RedisURI, Function<Runnable, Server>> {}

  private final List<RedisURI> seeds;
  private final Servers newServer;
  private final StoreContext context;
  private final AtomicReferenceArray<@Nullable Server> owners =
      new AtomicReferenceArray<>(Layout.BUCKETS);
  private final AtomicBoolean refreshing = new AtomicBoolean();

  // Guarded by this.
  private final Map<String, Server> servers = new LinkedHashMap<>();
  private boolean closed;

  ClusterMap(List<RedisURI> seeds, Servers newServer, StoreContext context) {
    this.seeds = List.copyOf(seeds);
    this.newServer = newServer;
    this.context = context;
  }

  /** The master of a bucket; null if nobody is known to be. */
  @Nullable Server owner(int bucket) {
    return owners.get(bucket);
  }

  /** A node has said who has a bucket. */
  Server moved(int bucket, String host, int port) {
    Server owner = server(host, port);
    owners.set(bucket, owner);
    refreshSoon();
    return owner;
  }

  /** The server at an address, reached as the first seed is: same user, same TLS. */
  synchronized Server server(String host, int port) {
    Server known = servers.get(host + ":" + port);
    if (known != null) {
      return known;
    }
    RedisURI uri = RedisURI.builder(seeds.get(0)).withHost(host).withPort(port).build();
    Server made = newServer.apply(uri).apply(this::refreshSoon);
    if (closed) {
      made.close();
    } else {
      servers.put(host + ":" + port, made);
    }
    return made;
  }

  /** All masters that have buckets. */
  List<Server> masters() {
    Set<Server> found = new HashSet<>();
    for (int bucket = 0; bucket < Layout.BUCKETS; bucket++) {
      Server owner = owners.get(bucket);
      if (owner != null) {
        found.add(owner);
      }
    }
    return List.copyOf(found);
  }

  /** Asks for the map: those first that we are connected to, then the seeds. */
  CompletableFuture<Void> refresh() {
    List<Server> candidates = new ArrayList<>();
    synchronized (this) {
      servers.values().stream().filter(Server::isConnected).forEach(candidates::add);
    }
    for (RedisURI seed : seeds) {
      Server server = server(seed.getHost(), seed.getPort());
      if (!candidates.contains(server)) {
        candidates.add(server);
      }
    }
    return ask(candidates, 0);
  }

  private CompletableFuture<Void> ask(List<Server> candidates, int next) {
    Server asked = candidates.get(next);
    return asked
        .wire(Topology.Purpose.CLAIMS)
        .run("CLUSTER SLOTS", commands -> commands.clusterSlots())
        .thenAccept(slots -> apply(slots, asked))
        .exceptionallyCompose(
            failure ->
                next + 1 < candidates.size()
                    ? ask(candidates, next + 1)
                    : CompletableFuture.failedFuture(failure));
  }

  /** Ranges of slots, each with its first and last slot, its master, and then its replicas. */
  private void apply(List<Object> ranges, Server asked) {
    Map<Integer, Server> bySlot = new HashMap<>();
    for (Object each : ranges) {
      List<?> range = (List<?>) each;
      List<?> master = (List<?>) range.get(2);
      String host = master.get(0) == null ? "" : Answers.text(master.get(0));
      Server owner =
          server(host.isEmpty() ? asked.host() : host, (int) Answers.number(master.get(1)));
      long last = Answers.number(range.get(1));
      for (long slot = Answers.number(range.get(0)); slot <= last; slot++) {
        bySlot.put((int) slot, owner);
      }
    }
    for (int bucket = 0; bucket < Layout.BUCKETS; bucket++) {
      Server owner = bySlot.get(SlotHash.getSlot(Layout.counter(bucket)));
      if (owner != null) {
        owners.set(bucket, owner);
      }
    }
    retire(new HashSet<>(bySlot.values()));
  }

  /** Ends the connections to those that are no longer masters; what they owe is asked elsewhere. */
  private void retire(Set<Server> current) {
    List<Server> gone = new ArrayList<>();
    synchronized (this) {
      servers
          .values()
          .removeIf(
              server -> {
                boolean retired = !current.contains(server);
                if (retired) {
                  gone.add(server);
                }
                return retired;
              });
    }
    gone.forEach(Server::close);
  }

  /** Asks for the map, unless someone does already; again and again while nobody answers. */
  void refreshSoon() {
    if (isClosed() || !refreshing.compareAndSet(false, true)) {
      return;
    }
    context
        .time()
        .schedule(PAUSE_NANOS, () -> context.time().lane(Lane.WORK).execute(this::refreshNow));
  }

  private void refreshNow() {
    if (isClosed()) {
      return;
    }
    refresh()
        .whenComplete(
            (done, failure) -> {
              refreshing.set(false);
              boolean incomplete = masters().stream().anyMatch(server -> !server.isConnected());
              if (failure != null || incomplete) {
                refreshSoon();
              }
            });
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  List<CompletableFuture<Void>> close() {
    List<Server> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(servers.values());
      servers.clear();
    }
    return all.stream().flatMap(server -> server.close().stream()).toList();
  }
}
