package io.fenceline.recipes.cache;

import io.fenceline.StoreUnavailableException;
import io.fenceline.recipes.support.Script;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Values in Redis, one hash {@code flc1:NAME:KEY} each, which expires.
 *
 * <pre>{@code
 * RedisTier tier = RedisTier.over(redisClient.connect(ByteArrayCodec.INSTANCE));
 * }</pre>
 *
 * <p>The connection is yours, to one server or to the master that Sentinels name, and is not
 * closed.
 */
public final class RedisTier extends SharedTier {
  private static final String PREFIX = "flc1:";
  private static final Script FIND = new Script(RedisTier.class, "find.lua");
  private static final Script BEGIN = new Script(RedisTier.class, "begin.lua");
  private static final Script PUT = new Script(RedisTier.class, "put.lua");

  private final StatefulRedisConnection<byte[], byte[]> connection;

  private RedisTier(StatefulRedisConnection<byte[], byte[]> connection) {
    this.connection = Objects.requireNonNull(connection, "connection");
  }

  /** Returns the values of one server. */
  public static RedisTier over(StatefulRedisConnection<byte[], byte[]> connection) {
    return new RedisTier(connection);
  }

  @Override
  String kind() {
    return "redis";
  }

  private static <A> A answered(Supplier<A> request) {
    try {
      return request.get();
    } catch (RedisException e) {
      throw new StoreUnavailableException(
          "redis", "A cached value was not read or written: " + e.getMessage(), e);
    }
  }

  @SuppressWarnings("TypeParameterUnusedInFormals") // As the driver has it.
  private <A> A run(Script script, ScriptOutputType type, String name, byte[]... arguments) {
    return answered(() -> script.run(connection.sync(), type, bytes(PREFIX + name), arguments));
  }

  @Override
  Optional<Stored> find(String name) {
    List<Object> answer = run(FIND, ScriptOutputType.MULTI, name);
    return answer.isEmpty() ? Optional.empty() : Optional.of(stored(answer, 0));
  }

  private static Stored stored(List<Object> answer, int first) {
    return new Stored((byte[]) answer.get(first), Duration.ofMillis((Long) answer.get(first + 1)));
  }

  @Override
  Look begin(String name, long token, Duration longestLoad) {
    List<Object> answer =
        run(
            BEGIN,
            ScriptOutputType.MULTI,
            name,
            bytes("%019d".formatted(token)),
            bytes(Long.toString(longestLoad.toMillis())));
    long found = (Long) answer.get(0);
    return new Look(found == 1, found == 2 ? Optional.of(stored(answer, 1)) : Optional.empty());
  }

  @Override
  boolean put(String name, long token, byte[] value, Duration fresh, Duration keep) {
    Long stored =
        run(
            PUT,
            ScriptOutputType.INTEGER,
            name,
            bytes("%019d".formatted(token)),
            value,
            bytes(Long.toString(fresh.toMillis())),
            bytes(Long.toString(keep.toMillis())));
    return stored == 1;
  }

  @Override
  void remove(String name) {
    Long unused = answered(() -> connection.sync().del(bytes(PREFIX + name)));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
