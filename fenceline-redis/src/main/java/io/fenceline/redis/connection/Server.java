package io.fenceline.redis.connection;

import io.fenceline.redis.layout.Call;
import io.fenceline.spi.StoreContext;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server, and our connections to it: one for claims and releases, one for renewals, and others
 * only when they are needed.
 */
public final class Server {
  private static final Logger LOG = LoggerFactory.getLogger(Server.class);

  /** How many acquisitions can wait for replicas at once; more wait for their turn. */
  private static final int MOST_EXCLUSIVE = 8;

  final String name;
  private final Driver driver;
  private final RedisURI uri;
  private final StoreContext context;
  private final ReplyTimeouts deadlines;
  private final Topology.Listener listener;
  private final Runnable whenBroken;
  private final Greeting greeting;
  private final @Nullable Sentinels sentinels;
  private final ScriptConnection claims;
  private final CallBatcher batcher;
  private final ScriptConnection renewals;

  // Guarded by this.
  private @Nullable Subscriber subscriber;
  private @Nullable ScriptConnection asking;
  private final List<ScriptConnection> exclusive = new ArrayList<>();
  private final ArrayDeque<ScriptConnection> idle = new ArrayDeque<>();
  private final ArrayDeque<Consumer<ScriptConnection>> waitingForIdle = new ArrayDeque<>();
  private boolean handsOut;
  private boolean closed;

  /** What is asked over a new connection before it is used for anything else. */
  public interface Greeting
      extends Function<StatefulRedisConnection<byte[], byte[]>, CompletionStage<Void>> {}

  public Server(
      String name,
      Driver driver,
      RedisURI uri,
      StoreContext context,
      ReplyTimeouts deadlines,
      Topology.Listener listener,
      Runnable whenBroken) {
    this(
        name,
        driver,
        uri,
        context,
        deadlines,
        listener,
        whenBroken,
        connection -> CompletableFuture.completedFuture(null));
  }

  public Server(
      String name,
      Driver driver,
      RedisURI uri,
      StoreContext context,
      ReplyTimeouts deadlines,
      Topology.Listener listener,
      Runnable whenBroken,
      Greeting greeting) {
    this.greeting = greeting;
    this.whenBroken = whenBroken;
    this.name = name;
    this.driver = driver;
    this.uri = uri;
    this.context = context;
    this.deadlines = deadlines;
    this.listener = listener;
    this.sentinels =
        uri.getSentinelMasterId() == null
            ? null
            : new Sentinels(driver, uri, context.time(), this::moved);
    this.claims = newConnection();
    this.batcher = new CallBatcher(claims);
    this.renewals = newConnection();
  }

  private ScriptConnection newConnection() {
    return new ScriptConnection(name, this::dial, context.time(), deadlines, whenBroken);
  }

  /**
   * One that is made when it is first needed. A server may have been closed by then, by a map in
   * which it is no longer a master: nobody would close the connection any more.
   */
  private ScriptConnection newConnectionUnlessClosed() {
    return closedLikeTheServer(newConnection());
  }

  private synchronized <C extends Connection> C closedLikeTheServer(C made) {
    if (closed) {
      made.closeAsync();
    }
    return made;
  }

  /** Where it is: with Sentinels, that may be elsewhere each time. */
  private CompletableFuture<RedisURI> target() {
    return sentinels == null ? CompletableFuture.completedFuture(uri) : sentinels.master();
  }

  private CompletionStage<StatefulRedisConnection<byte[], byte[]>> dial() {
    return target()
        .thenCompose(
            target ->
                driver
                    .dial(target)
                    .thenCompose(
                        connection ->
                            prepared(
                                connection,
                                target,
                                "The greeting",
                                () -> greeting.apply(connection))));
  }

  /**
   * The master is another one: all connections go there. The old one may be alive, cut off from all
   * but us; if only those that break by themselves moved, claims and renewals would go to different
   * masters, and each hold be lost at its first renewal.
   */
  private void moved() {
    LOG.info("{} has another master; all connections to the last one are replaced", name);
    connections().forEach(Connection::replace);
  }

  /**
   * A new connection, once it is ready. If it falls silent before, it is given up in time: nothing
   * else would, and no other one would be dialed.
   */
  private <C extends StatefulRedisConnection<byte[], byte[]>> CompletableFuture<C> prepared(
      C connection, RedisURI target, String what, Supplier<CompletionStage<Void>> preparation) {
    Reply<C> ready = deadlines.expect(what, name);
    ready.sent(() -> {}); // Whether it is silent or fails, it is closed below.
    ready.whenComplete(
        (done, failure) -> {
          if (failure != null) {
            connection.closeAsync();
          }
        });
    preparation
        .get()
        .whenComplete(
            (done, failure) -> {
              if (failure != null) {
                ready.completeExceptionally(failure);
              } else if (sentinels != null && !sentinels.isLast(target)) {
                ready.completeExceptionally(
                    NoAnswerException.unsent("The master of " + name + " has moved meanwhile"));
              } else {
                ready.complete(connection);
              }
            });
    return ready;
  }

  /** Opens the connections for claims and for renewals, at the same time. */
  public CompletableFuture<Void> connect() {
    CompletableFuture<Void> first = claims.connect();
    CompletableFuture<Void> second = renewals.connect();
    return first.thenCompose(done -> second);
  }

  /** As {@link #connect}, in the background: it goes on until there is a connection. */
  void startConnecting() {
    connect().exceptionally(failure -> null);
  }

  String host() {
    return uri.getHost();
  }

  int port() {
    return uri.getPort();
  }

  boolean isAt(String host, int port) {
    return host.equals(host()) && port == port();
  }

  public ScriptConnection connection(Topology.Purpose purpose) {
    return purpose == Topology.Purpose.RENEWALS ? renewals : claims;
  }

  /** Calls a short script for claims, perhaps together with others. */
  CompletableFuture<List<Object>> callBatched(Call call) {
    return batcher.call(call);
  }

  synchronized ScriptConnection asking() {
    if (asking == null) {
      asking = newConnectionUnlessClosed();
    }
    return asking;
  }

  public boolean isConnected() {
    return claims.isConnected();
  }

  // Connections that are used by one at a time. ------------------------------------------------

  /**
   * Its turn and its answer have one time together: what is answered later than its sender waits
   * for would be a grant that nobody hears of.
   */
  Reply<List<Object>> callAndWait(Call call, ReplicaWait replicaWait, boolean asking) {
    Reply<List<Object>> reply = deadlines.expect(call + " with WAIT", name);
    synchronized (this) {
      if (idle.isEmpty() && exclusive.size() < MOST_EXCLUSIVE) {
        ScriptConnection another = newConnectionUnlessClosed();
        exclusive.add(another);
        idle.add(another);
      }
      waitingForIdle.add(
          connection -> {
            reply.whenComplete((answer, failure) -> giveBack(connection));
            try {
              connection.sendAndWait(call, replicaWait, asking, reply);
            } catch (Throwable e) { // Others wait for the connection, and for the loop of handOut.
              reply.completeExceptionally(e);
            }
          });
    }
    handOut();
    return reply;
  }

  private void giveBack(ScriptConnection connection) {
    synchronized (this) {
      idle.add(connection);
    }
    handOut();
  }

  /**
   * Lets those go on whose turn it is. One that ends at once gives its connection back from within
   * its turn: that is left to the loop of whoever let it go on, or thousands would be nested.
   */
  private void handOut() {
    synchronized (this) {
      if (handsOut) {
        return;
      }
      handsOut = true;
    }
    while (true) {
      Consumer<ScriptConnection> next;
      ScriptConnection connection;
      synchronized (this) {
        if (idle.isEmpty() || waitingForIdle.isEmpty()) {
          handsOut = false;
          return;
        }
        next = waitingForIdle.remove();
        connection = idle.remove();
      }
      next.accept(connection);
    }
  }

  // Messages. -----------------------------------------------------------------------------------

  public synchronized Subscriber subscriber() {
    if (subscriber == null) {
      subscriber = new Subscriber(this::newSubscriberConnection, listener, context.time());
    }
    return subscriber;
  }

  private Connection newSubscriberConnection(Subscriber owner) {
    return closedLikeTheServer(
        new Connection(
            name + " (messages)",
            () -> dialAndSubscribe(owner),
            context.time(),
            deadlines,
            whenBroken));
  }

  private CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> dialAndSubscribe(
      Subscriber owner) {
    return target()
        .thenCompose(
            target ->
                driver
                    .dialPubSub(target)
                    .thenCompose(
                        connection ->
                            prepared(
                                connection,
                                target,
                                "The subscriptions",
                                () -> owner.prepare(connection))));
  }

  public List<CompletableFuture<Void>> close() {
    return connections().stream().map(Connection::closeAsync).toList();
  }

  private List<Connection> connections() {
    List<Connection> all = new ArrayList<>(List.of(claims, renewals));
    synchronized (this) {
      closed = true;
      all.addAll(exclusive);
      if (asking != null) {
        all.add(asking);
      }
      if (subscriber != null) {
        all.add(subscriber.connection());
      }
    }
    return all;
  }

  @Override
  public String toString() {
    return name;
  }
}
