package io.fenceline.redis.connection;

import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Cluster: each bucket is at one master, and moves when slots migrate or a master fails.
 *
 * <p>What a node refuses with a redirection it has not done, so it is sent on to the right one;
 * likewise what was never sent. What was sent and not answered has failed, here as elsewhere.
 */
final class ClusterTopology implements Topology {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterTopology.class);
  private static final Pattern REDIRECTION =
      Pattern.compile("(MOVED|ASK) [0-9]+ (?<host>.*):(?<port>[0-9]+).*");
  private static final int MOST_REDIRECTIONS = 16;
  private static final long PAUSE_NANOS = 50_000_000;

  private final ClusterMap map;
  private final ReplyTimeouts deadlines;
  private final StoreContext context;
  private final String clientId;
  private final String description;
  private volatile boolean sharded;
  private volatile @Nullable Server plainListening;

  /** How a call is sent to a server. */
  private interface Sender {
    Reply<List<Object>> send(Server server, boolean asking);
  }

  ClusterTopology(
      ClusterMap map,
      ReplyTimeouts deadlines,
      StoreContext context,
      String clientId,
      String description) {
    this.map = map;
    this.deadlines = deadlines;
    this.context = context;
    this.clientId = clientId;
    this.description = description;
  }

  @Override
  public void connect() {
    long end = context.time().nanos() + context.connectTimeout().toNanos();
    Connecting.await(firstMap(end), context, description);
    // Not all of them have to be there: a shard that is down takes only its own names with it. But
    // all have the connect timeout, since what is asked next gives up after one operation's.
    List<CompletableFuture<Void>> attempts = new ArrayList<>();
    for (Server master : map.masters()) {
      attempts.add(
          master
              .connect()
              .exceptionally(
                  failure -> {
                    LOG.warn("No connection to {} of {}: {}", master, description, failure + "");
                    return null;
                  }));
    }
    Connecting.awaitIfInTime(attempts, context);
    map.keepFresh();
    sharded = Connecting.await(canShard(), context, description);
  }

  /** Seeds that are slow have the connect timeout, though a request has only its own. */
  private CompletableFuture<Void> firstMap(long endNanos) {
    CompletableFuture<Void> found = new CompletableFuture<>();
    map.refresh()
        .whenComplete(
            (done, failure) -> {
              boolean again =
                  Failures.unwrapped(failure) instanceof NoAnswerException
                      && endNanos - context.time().nanos() > PAUSE_NANOS;
              if (failure == null) {
                found.complete(null);
              } else if (!again) {
                found.completeExceptionally(failure);
              } else {
                context
                    .time()
                    .schedule(
                        PAUSE_NANOS,
                        () ->
                            context
                                .time()
                                .lane(Lane.WORK)
                                .execute(() -> Reply.pass(firstMap(endNanos), found)));
              }
            });
    return found;
  }

  /** Whether messages can stay within a shard: Redis 7, and the permission to. */
  private CompletableFuture<Boolean> canShard() {
    int bucket = reachableBucket();
    Server first = map.owner(bucket);
    if (first == null) {
      return CompletableFuture.completedFuture(false);
    }
    byte[] channel = Layout.bytes(Layout.shardChannel(bucket, clientId));
    return first
        .connection(Purpose.CLAIMS)
        .run("SPUBLISH", commands -> commands.spublish(channel, new byte[0]))
        .thenApply(heard -> true)
        .exceptionally(failure -> false);
  }

  @Override
  public int reachableBucket() {
    for (int bucket = 0; bucket < Layout.BUCKETS; bucket++) {
      if (isConnected(map.owner(bucket))) {
        return bucket;
      }
    }
    return 0;
  }

  @Override
  public List<String> unreachable() {
    return map.masters().stream()
        .filter(server -> !server.isConnected())
        .map(Server::toString)
        .sorted()
        .toList();
  }

  private static boolean isConnected(@Nullable Server server) {
    return server != null && server.isConnected();
  }

  // Calls. --------------------------------------------------------------------------------------

  @Override
  public CompletableFuture<List<Object>> call(Purpose purpose, int bucket, Call call) {
    return route(
        bucket,
        call,
        purpose == Purpose.CLAIMS,
        (server, asking) ->
            asking ? server.asking().callAsking(call) : server.connection(purpose).call(call));
  }

  @Override
  public CompletableFuture<List<Object>> callAndWait(
      int bucket, Call call, ReplicaWait replicaWait) {
    return route(
        bucket, call, true, (server, asking) -> server.callAndWait(call, replicaWait, asking));
  }

  private CompletableFuture<List<Object>> route(
      int bucket, Call call, boolean patient, Sender sender) {
    Reply<List<Object>> reply = deadlines.expect(call, description);
    new Route(bucket, patient, sender, reply).tryOwner();
    return reply;
  }

  /** One call on its way to the right node. */
  private final class Route {
    private final int bucket;
    private final boolean patient;
    private final Sender sender;
    private final Reply<List<Object>> reply;
    private int redirections;

    Route(int bucket, boolean patient, Sender sender, Reply<List<Object>> reply) {
      this.bucket = bucket;
      this.patient = patient;
      this.sender = sender;
      this.reply = reply;
    }

    void tryOwner() {
      Server owner = map.owner(bucket);
      if (owner == null) {
        map.refreshSoon();
        later();
      } else {
        send(owner, false);
      }
    }

    private void send(Server server, boolean asking) {
      if (!reply.sent(() -> {})) { // The connection that it goes over looks after itself.
        return;
      }
      Reply<List<Object>> attempt = sender.send(server, asking);
      // It has a time of its own, which ends later: nobody would hear of a grant that it brings.
      reply.whenComplete((answer, failure) -> attempt.stop());
      attempt.whenComplete(
          (answer, failure) -> {
            if (failure == null) {
              reply.complete(answer);
            } else {
              failed(server, Failures.unwrapped(failure));
            }
          });
    }

    private void failed(Server asked, @Nullable Throwable failure) {
      String message = failure == null ? "" : String.valueOf(failure.getMessage());
      Matcher redirection = REDIRECTION.matcher(message);
      if (redirection.matches() && redirections++ < MOST_REDIRECTIONS) {
        String host = host(redirection.group("host"), asked.host());
        int port = Integer.parseInt(redirection.group("port"));
        if (message.startsWith("ASK")) {
          send(map.server(host, port), true);
        } else if (asked.isAt(host, port)) {
          // It can't say where: the other one has no host name, or has told an address of its own.
          map.refreshSoon();
          later();
        } else {
          send(map.moved(bucket, host, port), false);
        }
      } else if (message.startsWith("CLUSTERDOWN")) {
        map.refreshSoon();
        later();
      } else if (message.startsWith("TRYAGAIN") && patient) {
        redirections = 0; // Its keys are on their way: this is no circle.
        later();
      } else if (failure instanceof NoAnswerException unanswered && !unanswered.wasSent()) {
        reply.hinderedBy(message);
        later(); // Its server has been given up; someone else has the bucket by now.
      } else {
        map.refreshSoon();
        reply.completeExceptionally(failure == null ? new IllegalStateException() : failure);
      }
    }

    private void later() {
      if (!reply.isDone()) {
        context
            .time()
            .schedule(PAUSE_NANOS, () -> context.time().lane(Lane.WORK).execute(this::tryOwner));
      }
    }
  }

  /** Where a redirection leads: without a host, to where the node is that says so. */
  static String host(String named, String asked) {
    return named.isEmpty() || named.equals("?") ? asked : named;
  }

  @Override
  public boolean mixesBuckets() {
    return false;
  }

  // Messages. -----------------------------------------------------------------------------------

  @Override
  public byte[] channel(int bucket) {
    return Layout.bytes(
        sharded ? "s" + Layout.shardChannel(bucket, clientId) : "p" + Layout.channel(clientId));
  }

  @Override
  public CompletableFuture<Void> listen(int bucket) {
    Server server = sharded ? map.owner(bucket) : plainServer();
    if (server == null) {
      return CompletableFuture.completedFuture(null);
    }
    String channel = sharded ? Layout.shardChannel(bucket, clientId) : Layout.channel(clientId);
    return server.subscriber().listen(channel, sharded);
  }

  /** Without sharding a publication reaches every node; one is enough to listen to. */
  private @Nullable Server plainServer() {
    Server current = plainListening;
    List<Server> masters = map.masters();
    // One that is down, and nobody takes over from, would keep quiet about all shards.
    if (current == null || !masters.contains(current) || !current.isConnected()) {
      current = masters.stream().filter(Server::isConnected).findFirst().orElse(null);
      plainListening = current;
    }
    return current;
  }

  // All servers. --------------------------------------------------------------------------------

  @Override
  public CompletableFuture<List<byte[]>> scan(byte[] pattern) {
    return all(map.masters().stream().map(server -> SingleTopology.scan(server, pattern)).toList())
        .thenApply(pages -> pages.stream().flatMap(List::stream).toList());
  }

  @Override
  public <T> CompletableFuture<Map<String, T>> atEach(String what, Connection.Request<T> request) {
    List<Server> masters = map.masters().stream().filter(Server::isConnected).toList();
    if (masters.isEmpty()) {
      masters = map.masters();
    }
    return atEach(masters, what, request);
  }

  @Override
  public CompletableFuture<Void> tryAsking() {
    Server owner = map.owner(reachableBucket());
    return owner == null
        ? CompletableFuture.completedFuture(null)
        : owner
            .asking() // Where nothing is sent that does not ask, too.
            .run("ASKING", commands -> commands.asking())
            .thenAccept(done -> {});
  }

  private static <T> CompletableFuture<Map<String, T>> atEach(
      List<Server> masters, String what, Connection.Request<T> request) {
    return all(masters.stream()
            .map(server -> server.connection(Purpose.CLAIMS).run(what, request))
            .toList())
        .thenApply(
            answers -> {
              Map<String, T> byServer = new TreeMap<>();
              for (int i = 0; i < masters.size(); i++) {
                byServer.put(masters.get(i).name, answers.get(i));
              }
              return byServer;
            });
  }

  private static <T> CompletableFuture<List<T>> all(List<CompletableFuture<T>> parts) {
    return CompletableFuture.allOf(parts.toArray(CompletableFuture<?>[]::new))
        .thenApply(
            done -> {
              List<T> answers = new ArrayList<>();
              parts.forEach(part -> answers.add(part.join()));
              return answers;
            });
  }

  @Override
  public void close() {
    Connecting.awaitClosed(map.close());
  }
}
