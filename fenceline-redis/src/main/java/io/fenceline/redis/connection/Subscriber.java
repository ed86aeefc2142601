package io.fenceline.redis.connection;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The connection on which a server sends messages: one for all locks, with one channel for all of
 * them, or in a Cluster one channel for each bucket that is waited in.
 *
 * <p>A message is a hint. Those that are lost while the connection is being replaced are not asked
 * for: whoever waits asks for its lock again and again anyway.
 */
public final class Subscriber {
  private final Connection connection;
  private final Topology.Listener listener;

  /** The channels, with whether they are sharded; those that are here survive a reconnection. */
  private final Map<String, Boolean> channels = new ConcurrentHashMap<>();

  Subscriber(Function<Subscriber, Connection> newConnection, Topology.Listener listener) {
    this.listener = listener;
    this.connection = newConnection.apply(this);
  }

  Connection connection() {
    return connection;
  }

  public boolean listensTo(String channel) {
    return channels.containsKey(channel);
  }

  /** Starts to listen to a channel; completes when Redis has confirmed it. */
  public CompletableFuture<Void> listen(String channel, boolean sharded) {
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

  /** Asks for a sign of life; without one the connection is replaced. */
  void check() {
    if (connection.isConnected()) {
      connection.run("PING", commands -> commands.ping());
    }
  }
}
