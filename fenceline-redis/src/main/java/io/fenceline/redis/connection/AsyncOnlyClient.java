package io.fenceline.redis.connection;

import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A client whose connections have no synchronous commands.
 *
 * <p>Lettuce generates a proxy class with a thousand methods for them with the first connection: a
 * tenth of a second of processor time, for nobody.
 */
final class AsyncOnlyClient extends RedisClient {
  AsyncOnlyClient(ClientResources resources) {
    super(resources, new RedisURI());
  }

  @Override
  protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
      RedisChannelWriter writer,
      PushHandler pushHandler,
      RedisCodec<K, V> codec,
      Duration timeout) {
    return new Connection<>(writer, pushHandler, codec, timeout);
  }

  private static final class Connection<K, V> extends StatefulRedisConnectionImpl<K, V> {
    Connection(
        RedisChannelWriter writer,
        PushHandler pushHandler,
        RedisCodec<K, V> codec,
        Duration timeout) {
      super(writer, pushHandler, codec, timeout);
    }

    /** Called by the constructor above. */
    @Override
    @SuppressWarnings("NullAway") // Lettuce only keeps it, for sync().
    protected @Nullable RedisCommands<K, V> newRedisSyncCommandsImpl() {
      return null;
    }

    @Override
    public RedisCommands<K, V> sync() {
      throw new UnsupportedOperationException("only asynchronous commands");
    }
  }
}
