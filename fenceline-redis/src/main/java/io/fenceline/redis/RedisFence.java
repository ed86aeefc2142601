package io.fenceline.redis;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.Fence;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.FenceNotices;
import io.fenceline.redis.connection.Failures;
import io.fenceline.redis.connection.LettuceVersion;
import io.fenceline.redis.fence.FenceCalls;
import io.fenceline.redis.fence.FenceScript;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.RedisCodec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Refuses writers that were overtaken, in the step that writes to Redis.
 *
 * <pre>{@code
 * RedisFence<String, String> fence = RedisFence.over(redisClient.connect());
 * fence.set("price:{42}", "9.90", hold.fencingToken());
 * }</pre>
 *
 * <p>Each method is one command, a script that compares the token with the marks of the resource
 * and then writes. Where the method names no other, the resource is the key that is written. Tokens
 * of all 63 bits are compared exactly.
 *
 * <p>The connection is yours, of any codec, to one server or to a Cluster; no connection of
 * Fenceline is needed. The marks of a resource are in a key of its own, {@code flf1:{tag}resource},
 * in the slot of the resource: {@code tag} is its hash tag, or all of it. Only in a Cluster, and
 * only where a resource has a closing brace and no hash tag, there is no such key, and Redis
 * refuses the command.
 *
 * <p>A mark is kept for 30 days after its token was first accepted: see {@link #keepMarks}. Marks
 * are replicated and lost together with the data, so a failover that loses the last writes also
 * forgets their tokens. Do not let Redis evict them: an {@code allkeys} policy takes any key, and a
 * {@code volatile} one takes keys that expire, as marks do, before the data that they guard. Only
 * {@code noeviction} is right.
 *
 * <p>After a reconnection the driver may send a command again that was not answered. What {@link
 * #set}, {@link #hset}, {@link #del} and {@link #asFence} do is the same done twice (but a repeated
 * {@code hset} or {@code del} finds its own work done, and answers so). A script of yours runs at
 * most once: where its answer is lost, {@link #eval} fails, and it may have run. Immutable: each
 * setting gives a changed copy. Thread-safe.
 *
 * @param <K> the connection's keys
 * @param <V> the connection's values
 */
public final class RedisFence<K, V> {
  private static final Duration USUAL_MEMORY = Duration.ofDays(30);
  private static final Duration SHORTEST_MEMORY = Duration.ofHours(1);
  private static final int MOST_FIELDS = 1_000;

  private final FenceCalls<K, V> calls;
  private final Duration timeout;

  private RedisFence(FenceCalls<K, V> calls, Duration timeout) {
    this.calls = calls;
    this.timeout = timeout;
  }

  /** The fence of one server, or of the master that Sentinels name. */
  public static <K, V> RedisFence<K, V> over(StatefulRedisConnection<K, V> connection) {
    return over(connection, LettuceVersion.codec(connection));
  }

  /**
   * The same, where Lettuce does not tell the codec: that of a pooled connection before Lettuce 7.
   */
  public static <K, V> RedisFence<K, V> over(
      StatefulRedisConnection<K, V> connection, RedisCodec<K, V> codec) {
    return over(connection, connection.async(), codec);
  }

  /** The fence of a Cluster. */
  public static <K, V> RedisFence<K, V> over(StatefulRedisClusterConnection<K, V> connection) {
    return over(connection, LettuceVersion.codec(connection));
  }

  /**
   * The same, where Lettuce does not tell the codec: that of a pooled connection before Lettuce 7.
   */
  public static <K, V> RedisFence<K, V> over(
      StatefulRedisClusterConnection<K, V> connection, RedisCodec<K, V> codec) {
    return over(connection, connection.async(), codec);
  }

  private static <K, V> RedisFence<K, V> over(
      StatefulConnection<K, V> connection,
      BaseRedisAsyncCommands<K, V> commands,
      RedisCodec<K, V> codec) {
    return new RedisFence<>(
        new FenceCalls<>(commands, codec, FenceNotices.of("redis"), USUAL_MEMORY.toMillis()),
        timeout(connection));
  }

  private static Duration timeout(StatefulConnection<?, ?> connection) {
    // Zero means "for ever" to the driver.
    return connection.getTimeout().isZero() ? Duration.ofDays(1) : connection.getTimeout();
  }

  /**
   * How long the marks of a resource are kept after a new token was accepted, at least an hour. A
   * writer that was overtaken longer ago than that may pass.
   */
  public RedisFence<K, V> keepMarks(Duration memory) {
    if (memory.compareTo(SHORTEST_MEMORY) < 0) {
      throw new InvalidSettingException(
          "keepMarks", memory, "it must be at least " + Durations.show(SHORTEST_MEMORY));
    }
    return new RedisFence<>(calls.keeping(memory.toMillis()), timeout);
  }

  /** Tells one more listener what is accepted and refused, on the driver's thread. */
  public RedisFence<K, V> listener(FenceListener listener) {
    return new RedisFence<>(calls.telling(listener), timeout);
  }

  /**
   * Sets a key.
   *
   * @throws StaleTokenException if a larger token has passed before; nothing was written
   * @throws StoreUnavailableException if Redis gave no answer; it may have been written
   */
  public void set(K key, V value, FencingToken token) {
    await(setAsync(key, value, token));
  }

  /** As {@link #set(Object, Object, FencingToken)}, without blocking. */
  public CompletableFuture<Void> setAsync(K key, V value, FencingToken token) {
    return derived(
        calls.<String>call(
            FenceScript.SET,
            ScriptOutputType.STATUS,
            key,
            token,
            List.of(),
            args -> args.addValue(value)),
        status -> null);
  }

  /** As {@link #set(Object, Object, FencingToken)}, with a value that expires. */
  public void set(K key, V value, Duration expiry, FencingToken token) {
    await(setAsync(key, value, expiry, token));
  }

  /** As {@link #set(Object, Object, Duration, FencingToken)}, without blocking. */
  public CompletableFuture<Void> setAsync(K key, V value, Duration expiry, FencingToken token) {
    long millis = Durations.checkPositive("expiry", expiry).toMillis();
    return derived(
        calls.<String>call(
            FenceScript.SET,
            ScriptOutputType.STATUS,
            key,
            token,
            List.of(),
            args -> args.addValue(value).add(Math.max(1, millis))),
        status -> null);
  }

  /**
   * Sets fields of a hash.
   *
   * @param fields 1 to 1000
   * @return how many of them are new
   * @throws StaleTokenException if a larger token has passed before; nothing was written
   * @throws StoreUnavailableException if Redis gave no answer; it may have been written
   */
  public long hset(K key, Map<K, V> fields, FencingToken token) {
    return await(hsetAsync(key, fields, token));
  }

  /** As {@link #hset}, without blocking. */
  public CompletableFuture<Long> hsetAsync(K key, Map<K, V> fields, FencingToken token) {
    if (fields.isEmpty() || fields.size() > MOST_FIELDS) {
      throw new InvalidSettingException(
          "fields", fields.size(), "there must be 1 to " + MOST_FIELDS);
    }
    return calls.call(
        FenceScript.HSET,
        ScriptOutputType.INTEGER,
        key,
        token,
        List.of(),
        args -> args.add(fields));
  }

  /**
   * Deletes a key; its marks stay.
   *
   * @return whether it was there
   * @throws StaleTokenException if a larger token has passed before; nothing was deleted
   * @throws StoreUnavailableException if Redis gave no answer; it may have been deleted
   */
  public boolean del(K key, FencingToken token) {
    return await(delAsync(key, token));
  }

  /** As {@link #del}, without blocking. */
  public CompletableFuture<Boolean> delAsync(K key, FencingToken token) {
    return derived(
        calls.<Long>call(
            FenceScript.DEL, ScriptOutputType.INTEGER, key, token, List.of(), args -> {}),
        deleted -> deleted > 0);
  }

  /**
   * Runs a script of yours if the token passes, and at most once.
   *
   * @param output what the script answers, as Lettuce has it
   * @param resource whose marks decide
   * @param keys the script's own, in the slot of the resource
   * @throws StaleTokenException if a larger token has passed before; the script did not run
   * @throws StoreUnavailableException if Redis gave no answer, in which case the script may have
   *     run, or if the script failed
   */
  @SuppressWarnings("TypeParameterUnusedInFormals") // As the driver has it.
  public <T> T eval(
      GuardedScript script,
      ScriptOutputType output,
      K resource,
      FencingToken token,
      List<K> keys,
      List<V> args) {
    return await(this.<T>evalAsync(script, output, resource, token, keys, args));
  }

  /** As {@link #eval}, without blocking. */
  @SuppressWarnings("TypeParameterUnusedInFormals") // As the driver has it.
  public <T> CompletableFuture<T> evalAsync(
      GuardedScript script,
      ScriptOutputType output,
      K resource,
      FencingToken token,
      List<K> keys,
      List<V> args) {
    return calls.call(script.script(), output, resource, token, keys, all -> all.addValues(args));
  }

  /**
   * Returns the fence alone, where what is guarded is not in Redis. Check and write are then two
   * steps: see {@link Fence}.
   *
   * @param key makes a key of the resource's name
   */
  public Fence asFence(Function<? super String, ? extends K> key) {
    Objects.requireNonNull(key, "key");
    return (resource, token) ->
        await(
            calls.<Long>call(
                FenceScript.CHECK,
                ScriptOutputType.INTEGER,
                key.apply(resource),
                token,
                List.of(),
                args -> {}));
  }

  /** What is made of an answer; cancelling it cancels the command. */
  private static <A, T> CompletableFuture<T> derived(
      CompletableFuture<A> answer, Function<A, T> meaning) {
    CompletableFuture<T> derived = answer.thenApply(meaning);
    derived.whenComplete(
        (value, failure) -> {
          if (derived.isCancelled()) {
            answer.cancel(true);
          }
        });
    return derived;
  }

  private <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw Failures.meaning("redis", "A guarded command", e);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new StoreUnavailableException(
          "redis", "A guarded command was not answered; it may have been done", e);
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException(
          "redis", "Interrupted while a guarded command was under way; it may have been done", e);
    }
  }
}
