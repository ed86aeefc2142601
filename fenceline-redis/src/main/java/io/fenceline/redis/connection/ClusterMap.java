package io.fenceline.redis.connection;

import io.fenceline.redis.layout.Layout;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Which master of a Cluster has which bucket, as far as we know: redirections correct it at once,
 * and whenever something goes wrong, and now and then, nodes are asked for the whole map.
 */
final class ClusterMap {
  private static final long PAUSE_NANOS = 100_000_000;
  private static final int DOUBLINGS = 4;

  /** Who has not asked for this long has no trouble that lasts, and asks soon again. */
  private static final long CALM_NANOS = 2 * (PAUSE_NANOS << DOUBLINGS);

  /**
   * How often a client asks that has no other reason to: else one that is idle while all nodes are
   * replaced, one after the other, knows none of those that are there in the end.
   */
  private static final long IDLE_NANOS = 15_000_000_000L;

  /** Makes servers. */
  interface Servers {
    /**
     * Makes the server at an address.
     *
     * @param whenBroken what is done when a connection to it breaks
     * @param greeting what is asked over each new connection
     */
    Server make(RedisURI uri, Runnable whenBroken, Server.Greeting greeting);
  }

  private final List<RedisURI> seeds;
  private final Servers newServer;
  private final StoreContext context;
  private final ReplyTimeouts deadlines;
  private final AtomicReferenceArray<@Nullable Server> owners =
      new AtomicReferenceArray<>(Layout.BUCKETS);
  private final AtomicBoolean refreshing = new AtomicBoolean();
  private final AtomicInteger inVain = new AtomicInteger();
  private final AtomicInteger turns = new AtomicInteger();
  private final AtomicLong lookedAtNanos = new AtomicLong();

  // Guarded by this.
  private @Nullable SlotMap last;
  private @Nullable CompletableFuture<Void> underWay;
  private Time.@Nullable Timer idling;
  private final Map<String, Server> servers = new LinkedHashMap<>();
  private boolean closed;

  ClusterMap(
      List<RedisURI> seeds, Servers newServer, StoreContext context, ReplyTimeouts deadlines) {
    this.seeds = List.copyOf(seeds);
    this.newServer = newServer;
    this.context = context;
    this.deadlines = deadlines;
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
    AtomicReference<@Nullable Server> self = new AtomicReference<>();
    Server made =
        newServer.make(
            uri,
            this::refreshSoon,
            connection -> meet(Objects.requireNonNull(self.get()), connection));
    self.set(made);
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

  /** Asks for the map, unless that is under way: then its outcome is that of both. */
  CompletableFuture<Void> refresh() {
    CompletableFuture<Void> done = new CompletableFuture<>();
    synchronized (this) {
      if (underWay != null) {
        return underWay;
      }
      underWay = done;
    }
    poll()
        .thenAccept(this::apply)
        .whenComplete(
            (applied, failure) -> {
              synchronized (this) {
                underWay = null;
              }
              if (failure == null) {
                done.complete(null);
              } else {
                done.completeExceptionally(failure);
              }
            });
    return done;
  }

  /**
   * Those first that we are connected to, then where nodes were last seen, then the seeds; each
   * time another one first, so that one whose view is old does not decide for ever.
   */
  private CompletableFuture<SlotMap> poll() {
    List<Server> connected = new ArrayList<>();
    List<SlotMap.Address> addresses = new ArrayList<>();
    SlotMap before;
    synchronized (this) {
      before = last;
      servers.values().stream().filter(Server::isConnected).forEach(connected::add);
    }
    if (before != null) {
      addresses.addAll(before.nodes());
    }
    seeds.forEach(seed -> addresses.add(new SlotMap.Address(seed.getHost(), seed.getPort())));
    Set<Server> others = new LinkedHashSet<>();
    addresses.forEach(address -> others.add(server(address.host(), address.port())));
    connected.forEach(others::remove);
    int turn = turns.getAndIncrement() & Integer.MAX_VALUE;
    List<Server> candidates = new ArrayList<>(others);
    if (before != null) {
      Collections.rotate(connected, -turn);
      Collections.rotate(candidates, -turn);
    }
    candidates.addAll(0, connected);
    // The first map of all is that of the first seed that answers: seeds are in the user's order.
    int first = before == null ? 1 : connected.isEmpty() ? candidates.size() : connected.size();
    return new SlotMapVote(context.time(), before, candidates, this::ask).start(first);
  }

  /** Asks one node, if it can be reached at once: the others are there for that. */
  private CompletableFuture<SlotMap> ask(Server asked) {
    Reply<SlotMap> reply = deadlines.expect("CLUSTER SLOTS", asked.name);
    Connection connection = asked.connection(Topology.Purpose.CLAIMS);
    Reply.pass(
        connection
            .connect()
            .thenCompose(
                done -> connection.run("CLUSTER SLOTS", commands -> commands.clusterSlots()))
            .thenApply(slots -> SlotMap.parse(slots, asked.host())),
        reply);
    return reply;
  }

  /**
   * Makes sure that a new connection is to a node of our Cluster: an address may have been given to
   * another one, which would grant what is held in ours.
   */
  private CompletionStage<Void> meet(
      Server server, StatefulRedisConnection<byte[], byte[]> connection) {
    return connection
        .async()
        .clusterSlots()
        .thenAccept(
            slots -> {
              SlotMap map = SlotMap.parse(slots, server.host());
              synchronized (this) {
                if (last != null && map.isStrangeTo(last)) {
                  throw new SlotMapVote.StrangeClusterException(server, map);
                }
              }
            });
  }

  private void apply(SlotMap map) {
    Set<Server> masters = new HashSet<>();
    for (int bucket = 0; bucket < Layout.BUCKETS; bucket++) {
      SlotMap.Address address = map.ownerOf(bucket);
      Server owner = server(address.host(), address.port());
      owners.set(bucket, owner);
      masters.add(owner);
    }
    synchronized (this) {
      last = map;
    }
    // Nobody may ask for a name there for long: it would count as one that can't be reached.
    masters.stream().filter(master -> !master.isConnected()).forEach(Server::startConnecting);
    retire(masters);
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

  /**
   * Asks for the map, unless someone does already; again and again, ever more slowly, while nobody
   * answers or a master can't be reached. Also whoever asks on, because its requests fail, is kept
   * waiting ever longer while the map stays the same: it is not the map that is wrong.
   */
  void refreshSoon() {
    if (isClosed() || !refreshing.compareAndSet(false, true)) {
      return;
    }
    if (context.time().nanos() - lookedAtNanos.get() > CALM_NANOS) {
      inVain.set(0);
    }
    context
        .time()
        .schedule(
            PAUSE_NANOS << inVain.get(),
            () -> context.time().lane(Lane.WORK).execute(this::refreshNow));
  }

  /** Asks for the map now and then, until it is closed. */
  void keepFresh() {
    Time.Timer next =
        context
            .time()
            .schedule(
                IDLE_NANOS,
                () ->
                    context
                        .time()
                        .lane(Lane.WORK)
                        .execute(
                            () -> {
                              refreshSoon();
                              keepFresh();
                            }));
    synchronized (this) {
      if (closed) {
        next.cancel();
      }
      idling = next;
    }
  }

  private void refreshNow() {
    if (isClosed()) {
      return;
    }
    SlotMap before = last();
    refresh()
        .whenComplete(
            (done, failure) -> {
              boolean incomplete = masters().stream().anyMatch(server -> !server.isConnected());
              boolean again = failure != null || incomplete;
              boolean nothingNew = again || isLike(before);
              inVain.updateAndGet(times -> nothingNew ? Math.min(times + 1, DOUBLINGS) : 0);
              lookedAtNanos.set(context.time().nanos());
              refreshing.set(false);
              if (again) {
                refreshSoon();
              }
            });
  }

  private synchronized @Nullable SlotMap last() {
    return last;
  }

  private boolean isLike(@Nullable SlotMap before) {
    SlotMap now = last();
    return before != null && now != null && now.hasSameMasters(before);
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  List<CompletableFuture<Void>> close() {
    List<Server> all;
    synchronized (this) {
      closed = true;
      if (idling != null) {
        idling.cancel();
      }
      all = List.copyOf(servers.values());
      servers.clear();
    }
    return all.stream().flatMap(server -> server.close().stream()).toList();
  }
}
