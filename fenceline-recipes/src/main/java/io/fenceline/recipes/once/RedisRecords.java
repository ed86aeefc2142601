package io.fenceline.recipes.once;

import io.fenceline.StoreUnavailableException;
import io.fenceline.recipes.support.Script;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Records in Redis or Valkey.
 *
 * <pre>{@code
 * RedisRecords records = RedisRecords.over(redisClient.connect(ByteArrayCodec.INSTANCE));
 * }</pre>
 *
 * <p>A record is a hash {@code flo1:NAME:KEY}. Each step is one script, so the write of a result is
 * refused in the very step that would write it. A finished record expires by itself.
 *
 * <p>They are as durable as the Redis is: one that forgets a record, in a crash, a failover or by
 * evicting keys, lets the work be done again. Use {@code noeviction}, and {@code appendfsync
 * always} where that matters; where it matters more, use {@link SqlRecords}.
 *
 * <p>The connection is yours, to one server, to the master that Sentinels name, or to a Cluster,
 * and is not closed.
 */
public final class RedisRecords extends OnceRecords<Work> {
  private static final String PREFIX = "flo1:";
  private static final Script BEGIN = new Script(RedisRecords.class, "begin.lua");
  private static final Script FINISH = new Script(RedisRecords.class, "finish.lua");
  private static final Script CLEAR = new Script(RedisRecords.class, "clear.lua");

  private final RedisClusterCommands<byte[], byte[]> commands;

  private RedisRecords(RedisClusterCommands<byte[], byte[]> commands) {
    this.commands = commands;
  }

  /** Records at one server, or at the master that Sentinels name. */
  public static RedisRecords over(StatefulRedisConnection<byte[], byte[]> connection) {
    return new RedisRecords(Objects.requireNonNull(connection, "connection").sync());
  }

  /**
   * Records in a Cluster. Each record is one key, so a step asks one server. A failover to a
   * replica that has not got a record yet forgets it.
   */
  public static RedisRecords over(StatefulRedisClusterConnection<byte[], byte[]> connection) {
    return new RedisRecords(Objects.requireNonNull(connection, "connection").sync());
  }

  @Override
  String kind() {
    return "redis";
  }

  @SuppressWarnings("TypeParameterUnusedInFormals") // As the driver has it.
  private <A> A run(Script script, ScriptOutputType type, String name, byte[]... arguments) {
    try {
      return script.run(commands, type, bytes(PREFIX + name), arguments);
    } catch (RedisException e) {
      throw failure(e);
    }
  }

  private static StoreUnavailableException failure(RedisException e) {
    return new StoreUnavailableException(
        "redis",
        "Reading or writing a record failed, although a write may have been done: "
            + e.getMessage(),
        e);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] bytes(long token) {
    return bytes("%019d".formatted(token));
  }

  private static byte[] number(long value) {
    return bytes(Long.toString(value));
  }

  @Override
  Optional<Entry> find(String name) {
    try {
      List<byte @Nullable []> fields =
          commands
              .hmget(
                  bytes(PREFIX + name),
                  bytes("s"),
                  bytes("f"),
                  bytes("t"),
                  bytes("n"),
                  bytes("a"),
                  bytes("w"),
                  bytes("r"))
              .stream()
              .<byte @Nullable []>map(field -> field.getValueOrElse(new byte[0]))
              .toList();
      byte[] state = Objects.requireNonNull(fields.get(0));
      return state.length == 0 ? Optional.empty() : Optional.of(entry(fields));
    } catch (RedisException e) {
      throw failure(e);
    }
  }

  @Override
  Entry begin(
      String name, String fingerprint, long token, String worker, boolean rerun, Instant now) {
    List<byte @Nullable []> fields =
        run(
            BEGIN,
            ScriptOutputType.MULTI,
            name,
            bytes(fingerprint),
            bytes(token),
            bytes(worker),
            bytes(rerun ? "1" : "0"));
    return entry(fields);
  }

  private static Entry entry(List<byte @Nullable []> fields) {
    OnceReport.State state = OnceReport.State.of(Integer.parseInt(text(fields.get(0))));
    return new Entry(
        state,
        text(fields.get(1)),
        Long.parseLong(text(fields.get(2))),
        Integer.parseInt(text(fields.get(3))),
        Instant.ofEpochMilli(Long.parseLong(text(fields.get(4)))),
        text(fields.get(5)),
        state == OnceReport.State.BEGUN ? null : fields.get(6));
  }

  private static String text(byte @Nullable [] field) {
    return new String(Objects.requireNonNull(field, "a field of a record"), StandardCharsets.UTF_8);
  }

  @Override
  boolean finish(String name, long token, long by, Outcome outcome, Instant now) {
    Long done =
        run(
            FINISH,
            ScriptOutputType.INTEGER,
            name,
            bytes(token),
            bytes(by),
            number(outcome.state().code()),
            outcome.result(),
            number(outcome.retention().toMillis()));
    return done == 1;
  }

  @Override
  boolean clear(String name, long token) {
    Long cleared = run(CLEAR, ScriptOutputType.INTEGER, name, bytes(token));
    return cleared == 1;
  }

  @Override
  boolean sweep(String kind, Duration retention, Instant now) {
    return false; // They expire.
  }

  @Override
  Session<Work> open(Work plain) {
    return plain(this, plain);
  }
}
