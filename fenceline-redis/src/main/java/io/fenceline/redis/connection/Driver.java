package io.fenceline.redis.connection;

import io.fenceline.settings.Durations;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Lettuce, set up so that it neither repeats nor buffers nor times anything by itself. */
public final class Driver {
  private static final long CLOSING_SECONDS = 2;

  private final RedisClient client;

  /** What is closed with it; null if it is the user's. */
  private final @Nullable ClientResources own;

  private final Duration connectTimeout;

  /**
   * Sets up the driver.
   *
   * @param resources event loops and the like that the user has already; null for own ones
   * @param given options that the user has already, such as for TLS
   */
  public Driver(@Nullable ClientResources resources, ClientOptions given, Duration connectTimeout) {
    this.own =
        resources == null
            ? DefaultClientResources.builder()
                .nettyCustomizer(ReplyLimit.after(new NettyCustomizer() {}))
                // Nobody can read its latencies: these resources are ours.
                .commandLatencyRecorder(CommandLatencyRecorder.disabled())
                .build()
            : null;
    this.client =
        new AsyncOnlyClient(Objects.requireNonNull(resources == null ? own : limited(resources)));
    this.connectTimeout = connectTimeout;
    SocketOptions sockets =
        given.getSocketOptions().mutate().connectTimeout(connectTimeout).keepAlive(true).build();
    client.setOptions(
        LettuceVersion.ignoreMaintenance(given.mutate())
            .autoReconnect(false)
            .replayFilter(command -> true)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
            .socketOptions(sockets)
            .sslOptions(
                given
                    .getSslOptions()
                    .mutate()
                    // Before connecting as a whole is given up, so that it is named as the cause.
                    .handshakeTimeout(Durations.part(connectTimeout, 2))
                    .build())
            .build());
  }

  /**
   * The same resources, with our limit in each connection that we make. Not a copy by {@code
   * mutate()}: that takes over who has to close them.
   */
  private static ClientResources limited(ClientResources given) {
    return (ClientResources)
        Proxy.newProxyInstance(
            ClientResources.class.getClassLoader(),
            new Class<?>[] {ClientResources.class},
            (self, method, args) -> {
              if (method.getName().equals("nettyCustomizer")) {
                return ReplyLimit.after(given.nettyCustomizer());
              }
              try {
                return method.invoke(given, args);
              } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
              }
            });
  }

  CompletionStage<StatefulRedisConnection<byte[], byte[]>> dial(RedisURI uri) {
    return client.connectAsync(ByteArrayCodec.INSTANCE, bounded(uri));
  }

  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> dialPubSub(RedisURI uri) {
    return client.connectPubSubAsync(ByteArrayCodec.INSTANCE, bounded(uri));
  }

  /**
   * Asks one Sentinel for the master.
   *
   * @param sentinels how to reach it, and the master's name
   * @return {@code sentinels} with the master's address instead of the Sentinels'
   */
  CompletionStage<RedisURI> master(RedisURI sentinel, RedisURI sentinels) {
    String name = Objects.requireNonNull(sentinels.getSentinelMasterId());
    return client
        .connectSentinelAsync(StringCodec.UTF8, bounded(sentinel))
        .thenCompose(
            connection ->
                timed(connection.async().getMasterAddrByName(name))
                    .whenComplete((found, failure) -> connection.closeAsync()))
        .thenApply(
            found -> {
              if (found instanceof InetSocketAddress address) {
                return RedisURI.builder(sentinels)
                    .withHost(address.getHostString())
                    .withPort(address.getPort())
                    .build();
              }
              throw NoAnswerException.unsent(
                  "The Sentinel at "
                      + sentinel.getHost()
                      + ":"
                      + sentinel.getPort()
                      + " knows no master '"
                      + name
                      + "'");
            });
  }

  private <T> CompletableFuture<T> timed(CompletionStage<T> answer) {
    return answer
        .toCompletableFuture()
        .copy()
        .orTimeout(connectTimeout.toMillis(), TimeUnit.MILLISECONDS);
  }

  private RedisURI bounded(RedisURI uri) {
    return RedisURI.builder(uri).withTimeout(connectTimeout).build();
  }

  public void close() {
    client.shutdown(0, CLOSING_SECONDS, TimeUnit.SECONDS);
    if (own != null) {
      own.shutdown(0, CLOSING_SECONDS, TimeUnit.SECONDS)
          .awaitUninterruptibly(CLOSING_SECONDS, TimeUnit.SECONDS);
    }
  }
}
