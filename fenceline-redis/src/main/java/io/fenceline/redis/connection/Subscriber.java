package io.fenceline.redis.connection;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * The connection on which a server sends messages: one for all locks, with one channel for all of
 * them, or in a Cluster one channel for each bucket that is waited in.
 *
 * <p>A message is a hint. Those that are lost while the connection is being replaced are not asked
 * for: whoever waits asks for its lock again and again anyway.
 */
public final class Subscriber {
  /** How often the connection is asked for a sign of life, while someone waits for messages. */
  private static final long CHECK_NANOS = 5_000_000_000L;

  private final Connection connection;
  private final Topology.Listener listener;
  private final Time time;

  /** Whether there is a timer for the next check. */
  private final AtomicBoolean checks = new AtomicBoolean();

  /** Whether someone has waited for messages since the last check. */
  private volatile boolean needed;

  /** The channels, with whether they are sharded; those that are here survive a reconnection. */
  private final Map<String, Boolean> channels = new ConcurrentHashMap<>();

  Subscriber(
      Function<Subscriber, Connection> newConnection, Topology.Listener listener, Time time) {
    this.listener = listener;
    this.time = time;
    this.connection = newConnection.apply(this);
  }

  Connection connection() {
    return connection;
  }

  /**
   * Makes sure that a channel is listened to; whoever waits for messages calls it whenever it asks.
   *
   * @return completes when Redis has confirmed it; already complete if it did before
   */
  public CompletableFuture<Void> listen(String channel, boolean sharded) {
    needed = true;
    if (checks.compareAndSet(false, true)) {
      checkLater();
    }
    if (channels.containsKey(channel)) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> confirmed =
        connection.run(
            "SUBSCRIBE",
            commands ->
                subscribe((RedisPubSubAsyncCommands<byte[], byte[]>) commands, channel, sharded));
    return confirmed.thenRun(() -> channels.put(channel, sharded));
  }

  private static CompletionStage<Void> subscribe(
      RedisPubSubAsyncCommands<byte[], byte[]> commands, String channel, boolean sharded) {
    byte[] name = channel.getBytes(UTF_8);
    return sharded ? commands.ssubscribe(name) : commands.subscribe(name);
  }

  /** Lets a new connection listen to everything that the last one listened to. */
  CompletionStage<Void> prepare(StatefulRedisPubSubConnection<byte[], byte[]> connection) {
    connection.addListener(
        new RedisPubSubAdapter<byte[], byte[]>() {
          @Override
          public void message(byte[] channel, byte[] message) {
            listener.accept(channel, message);
          }

          @Override
          public void smessage(byte[] channel, byte[] message) {
            listener.accept(channel, message);
          }

          @Override
          public void sunsubscribed(byte[] channel, long count) {
            channels.remove(new String(channel, UTF_8)); // Its slot has moved elsewhere.
          }
        });
    CompletableFuture<?>[] confirmed =
        channels.entrySet().stream()
            .map(
                channel ->
                    subscribe(connection.async(), channel.getKey(), channel.getValue())
                        .exceptionally(
                            failure -> {
                              channels.remove(channel.getKey());
                              return null;
                            })
                        .toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new);
    return CompletableFuture.allOf(confirmed);
  }

  private void checkLater() {
    time.schedule(CHECK_NANOS, () -> time.lane(Lane.WORK).execute(this::check));
  }

  /** Asks for a sign of life; without one the connection is replaced. */
  private void check() {
    if (!needed) {
      checks.set(false); // Whoever needs it next, and will soon ask again, sets the timer.
      return;
    }
    needed = false;
    if (connection.isConnected()) {
      connection.run("PING", commands -> commands.ping());
    }
    checkLater();
  }
}
