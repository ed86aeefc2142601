package io.fenceline.redis.connection;

import io.fenceline.settings.InvalidSettingException;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.RedisCodec;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import org.jspecify.annotations.Nullable;

/**
 * What differs between Lettuce 6.6, which Spring Boot 3.5 has, and Lettuce 7. Everything else in
 * this module uses only what both have.
 */
public final class LettuceVersion {
  private LettuceVersion() {}

  /**
   * Has the driver ignore notices of maintenance, on which Lettuce 7 would reconnect by itself.
   * Lettuce 6 has no such notices.
   */
  static ClientOptions.Builder ignoreMaintenance(ClientOptions.Builder options) {
    try {
      return Notices.ignore(options);
    } catch (NoClassDefFoundError lettuce6) {
      return options;
    }
  }

  /** A class of its own, so that nothing else fails to load where its types are missing. */
  private static final class Notices {
    static ClientOptions.Builder ignore(ClientOptions.Builder options) {
      return options.maintNotificationsConfig(MaintNotificationsConfig.disabled());
    }
  }

  public static <K, V> RedisCodec<K, V> codec(StatefulRedisConnection<K, V> connection) {
    try {
      return connection.getCodec();
    } catch (NoSuchMethodError lettuce6) {
      return hiddenCodec(connection);
    }
  }

  public static <K, V> RedisCodec<K, V> codec(StatefulRedisClusterConnection<K, V> connection) {
    try {
      return connection.getCodec();
    } catch (NoSuchMethodError lettuce6) {
      return hiddenCodec(connection);
    }
  }

  /** Connections of Lettuce 6 keep their codec in a field, and a pool's don't even have that. */
  @SuppressWarnings("unchecked")
  private static <K, V> RedisCodec<K, V> hiddenCodec(Object connection) {
    Class<?> type = connection.getClass();
    while (type != null) {
      if (valueOf(type, connection) instanceof RedisCodec<?, ?> found) {
        return (RedisCodec<K, V>) found;
      }
      type = type.getSuperclass();
    }
    throw new InvalidSettingException(
        "connection",
        connection.getClass().getName(),
        "with this version of Lettuce the connection does not reveal its codec; pass the codec as the second argument");
  }

  private static @Nullable Object valueOf(Class<?> type, Object connection) {
    try {
      Field codec = type.getDeclaredField("codec");
      codec.setAccessible(true);
      return codec.get(connection);
    } catch (ReflectiveOperationException | InaccessibleObjectException e) {
      return null; // Not declared by this class, or not for us.
    }
  }
}
