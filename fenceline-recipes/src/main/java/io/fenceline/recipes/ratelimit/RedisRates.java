package io.fenceline.recipes.ratelimit;

import io.fenceline.StoreUnavailableException;
import io.fenceline.recipes.support.Script;
import io.fenceline.time.Time;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * Limits in Redis, by the clock of its server.
 *
 * <pre>{@code
 * RedisRates rates = RedisRates.over(redisClient.connect(ByteArrayCodec.INSTANCE));
 * }</pre>
 *
 * <p>A limit is one key, {@code flr1:NAME}, which expires when its last permit has left the window.
 * Each decision is one script, and one request.
 *
 * <p>A Redis that forgets the key, in a crash, a failover or by evicting keys, begins a new window:
 * up to twice the permits in one period, once. So does a server clock that is set forward.
 *
 * <p>The connection is yours, to one server or to the master that Sentinels name, and is not
 * closed. Its timeout is how long a decision may take; Lettuce's default of a minute is long.
 */
public final class RedisRates extends RateStore {
  private static final String PREFIX = "flr1:";
  private static final Script STRICT = new Script(RedisRates.class, "strict.lua");
  private static final Script SMOOTH = new Script(RedisRates.class, "smooth.lua");

  private final StatefulRedisConnection<byte[], byte[]> connection;

  private RedisRates(StatefulRedisConnection<byte[], byte[]> connection) {
    this.connection = Objects.requireNonNull(connection, "connection");
  }

  /** Returns the limits of one server. */
  public static RedisRates over(StatefulRedisConnection<byte[], byte[]> connection) {
    return new RedisRates(connection);
  }

  @Override
  String kind() {
    return "redis";
  }

  @Override
  Answer take(String name, Allowance terms, int permits, long longestWaitMicros, Time time) {
    List<Long> answer;
    try {
      answer =
          terms.isSmooth()
              ? run(
                  SMOOTH,
                  name,
                  terms.intervalMicros(),
                  permits,
                  terms.periodMicros(),
                  terms.burst(),
                  longestWaitMicros)
              : run(
                  STRICT,
                  name,
                  terms.permits(),
                  permits,
                  terms.periodMicros(),
                  terms.grainMicros(),
                  longestWaitMicros);
    } catch (RedisException e) {
      throw new StoreUnavailableException(
          "redis",
          "Taking permits failed, although they may have been taken: " + e.getMessage(),
          e);
    }
    if (answer.get(0) == -1) {
      throw otherUse(name, terms, answer.get(1).intValue(), answer.get(2));
    }
    return new Answer(answer.get(0) == 1, answer.get(1), answer.get(2));
  }

  private List<Long> run(Script script, String name, long... numbers) {
    byte[][] arguments = new byte[numbers.length][];
    for (int i = 0; i < numbers.length; i++) {
      arguments[i] = bytes(Long.toString(numbers[i]));
    }
    return script.run(connection.sync(), ScriptOutputType.MULTI, bytes(PREFIX + name), arguments);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
