package io.fenceline.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Lettuce, set up so that it neither repeats nor buffers nor times anything by itself. */
final class Driver {
  private final RedisClient client;
  private final Duration connectTimeout;

  /**
   * Sets up the driver.
   *
   * @param resources event loops and the like that the user has already; null for own ones
   * @param given options that the user has already, such as for TLS
   */
  Driver(@Nullable ClientResources resources, ClientOptions given, Duration connectTimeout) {
    this.client = resources == null ? RedisClient.create() : RedisClient.create(resources);
    this.connectTimeout = connectTimeout;
    SocketOptions sockets =
        given.getSocketOptions().mutate().connectTimeout(connectTimeout).keepAlive(true).build();
    client.setOptions(
        given
            .mutate()
            .autoReconnect(false)
            .replayFilter(command -> true)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
            .maintNotificationsConfig(MaintNotificationsConfig.disabled())
            .socketOptions(sockets)
            .build());
  }

  CompletionStage<StatefulRedisConnection<byte[], byte[]>> dial(RedisURI uri) {
    return client.connectAsync(ByteArrayCodec.INSTANCE, bounded(uri));
  }

  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> dialPubSub(RedisURI uri) {
    return client.connectPubSubAsync(ByteArrayCodec.INSTANCE, bounded(uri));
  }

  private RedisURI bounded(RedisURI uri) {
    RedisURI.Builder copy = RedisURI.builder(uri).withTimeout(connectTimeout);
    if (uri.getSentinelMasterId() == null) {
      return copy.build();
    }
    copy.withSentinelMasterId(uri.getSentinelMasterId());
    uri.getSentinels().forEach(copy::withSentinel); // Which the builder leaves out.
    return copy.build();
  }

  void close() {
    client.shutdown(0, 2, TimeUnit.SECONDS);
  }
}
