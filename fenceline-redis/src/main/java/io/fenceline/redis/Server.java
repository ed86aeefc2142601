package io.fenceline.redis;

import io.fenceline.spi.StoreContext;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A server, and our connections to it: one for claims and releases, one for renewals, and others
 * only when they are needed.
 */
final class Server {
  /** How many acquisitions can wait for replicas at once; more wait for their turn. */
  private static final int MOST_EXCLUSIVE = 8;

  final String name;
  private final Driver driver;
  private final RedisURI uri;
  private final StoreContext context;
  private final Deadlines deadlines;
  private final Topology.Listener listener;
  private final Runnable whenBroken;
  private final Greeting greeting;
  private final Wire claims;
  private final Convoy convoy;
  private final Wire renewals;

  // Guarded by this.
  private @Nullable Subscriber subscriber;
  private @Nullable Wire asking;
  private final List<Wire> exclusive = new ArrayList<>();
  private final ArrayDeque<Wire> idle = new ArrayDeque<>();
  private final ArrayDeque<CompletableFuture<Wire>> waitingForIdle = new ArrayDeque<>();

  /** What is asked over a new connection before it is used for anything else. */
  interface Greeting
      extends Function<StatefulRedisConnection<byte[], byte[]>, CompletionStage<Void>> {}

  Server(
      String name,
      Driver driver,
      RedisURI uri,
      StoreContext context,
      Deadlines deadlines,
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

  Server(
      String name,
      Driver driver,
      RedisURI uri,
      StoreContext context,
      Deadlines deadlines,
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
    this.claims = newWire();
    this.convoy = new Convoy(claims);
    this.renewals = newWire();
  }

  private Wire newWire() {
    return new Wire(name, this::dial, context.time(), deadlines, whenBroken);
  }

  private CompletionStage<StatefulRedisConnection<byte[], byte[]>> dial() {
    return driver
        .dial(uri)
        .thenCompose(
            connection ->
                greeting
                    .apply(connection)
                    .thenApply(done -> connection)
                    .whenComplete(
                        (done, failure) -> {
                          if (failure != null) {
                            connection.closeAsync();
                          }
                        }));
  }

  /** Opens the connection for claims, and starts to open the one for renewals. */
  CompletableFuture<Void> connect() {
    return claims.connect().thenCompose(done -> renewals.connect());
  }

  String host() {
    return uri.getHost();
  }

  Wire wire(Topology.Purpose purpose) {
    return purpose == Topology.Purpose.RENEWALS ? renewals : claims;
  }

  /** Calls a script, for claims together with others; all keys may be in one call here. */
  CompletableFuture<List<Object>> call(Topology.Purpose purpose, Call call) {
    return purpose == Topology.Purpose.CLAIMS ? convoy.call(call) : renewals.call(call);
  }

  synchronized Wire asking() {
    if (asking == null) {
      asking = newWire();
    }
    return asking;
  }

  boolean isConnected() {
    return claims.isConnected();
  }

  // Connections that are used by one at a time. ------------------------------------------------

  CompletableFuture<List<Object>> callAndWait(Call call, Durability durability, boolean asking) {
    Reply<List<Object>> reply = deadlines.expect(call + " with WAIT", name);
    borrow()
        .thenAccept(
            wire -> {
              if (reply.isDone()) {
                giveBack(wire); // Its turn came too late.
                return;
              }
              reply.sent(() -> {});
              wire.callAndWait(call, durability, asking)
                  .whenComplete(
                      (answer, failure) -> {
                        giveBack(wire);
                        if (failure == null) {
                          reply.complete(answer);
                        } else {
                          reply.completeExceptionally(failure);
                        }
                      });
            });
    return reply;
  }

  private synchronized CompletableFuture<Wire> borrow() {
    Wire free = idle.poll();
    if (free == null && exclusive.size() < MOST_EXCLUSIVE) {
      free = newWire();
      exclusive.add(free);
    }
    if (free != null) {
      return CompletableFuture.completedFuture(free);
    }
    CompletableFuture<Wire> turn = new CompletableFuture<>();
    waitingForIdle.add(turn);
    return turn;
  }

  private void giveBack(Wire wire) {
    CompletableFuture<Wire> next;
    synchronized (this) {
      next = waitingForIdle.poll();
      if (next == null) {
        idle.add(wire);
      }
    }
    if (next != null) {
      next.complete(wire);
    }
  }

  // Messages. -----------------------------------------------------------------------------------

  synchronized Subscriber subscriber() {
    if (subscriber == null) {
      subscriber = new Subscriber(this::newSubscriberWire, listener);
    }
    return subscriber;
  }

  private Wire newSubscriberWire(Subscriber owner) {
    return new Wire(
        name + " (messages)", () -> dialAndSubscribe(owner), context.time(), deadlines, whenBroken);
  }

  private CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> dialAndSubscribe(
      Subscriber owner) {
    return driver
        .dialPubSub(uri)
        .thenCompose(connection -> owner.prepare(connection).thenApply(done -> connection));
  }

  /** Makes sure that a listening connection, if there is one, is not silently dead. */
  void checkSubscriber() {
    Subscriber current;
    synchronized (this) {
      current = subscriber;
    }
    if (current != null) {
      current.check();
    }
  }

  List<CompletableFuture<Void>> close() {
    List<Wire> all = new ArrayList<>(List.of(claims, renewals));
    synchronized (this) {
      all.addAll(exclusive);
      if (asking != null) {
        all.add(asking);
      }
      if (subscriber != null) {
        all.add(subscriber.wire());
      }
    }
    return all.stream().map(Wire::closeAsync).toList();
  }

  @Override
  public String toString() {
    return name;
  }
}
