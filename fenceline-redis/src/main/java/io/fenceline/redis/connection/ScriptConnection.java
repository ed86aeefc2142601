package io.fenceline.redis.connection;

import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Script;
import io.fenceline.time.Time;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A connection over which scripts are called: by their hash, and with their body where the server
 * has no script with that hash, because it is new, was restarted, or was told to flush its scripts.
 */
public final class ScriptConnection extends Connection {
  private volatile boolean lackedScript;

  ScriptConnection(
      String server,
      Supplier<? extends CompletionStage<? extends StatefulRedisConnection<byte[], byte[]>>> dialer,
      Time time,
      ReplyTimeouts deadlines,
      Runnable whenBroken) {
    super(server, dialer, time, deadlines, whenBroken);
  }

  /** Whether the server did not know a script that was called by its hash. */
  boolean lackedScript() {
    return lackedScript;
  }

  /** What is sent where the server does not know a script by its hash. */
  private <T> Fallback<T> orElse(Request<T> byBody) {
    return failure -> {
      if (!(failure instanceof RedisNoScriptException)) {
        return null;
      }
      lackedScript = true;
      return byBody;
    };
  }

  /** Calls a script by its hash, or with its body where the server does not know it yet. */
  public Reply<List<Object>> call(Call call) {
    return run(
        call,
        commands -> commands.dispatch(CommandType.EVALSHA, output(), call.byHash()),
        orElse(commands -> commands.dispatch(CommandType.EVAL, output(), call.byBody())));
  }

  /** As {@link #call}, with arguments that depend on the connection that it is sent over. */
  public Reply<List<Object>> call(
      Script script, Function<RedisAsyncCommands<byte[], byte[]>, Call> call) {
    return run(
        script,
        commands -> commands.dispatch(CommandType.EVALSHA, output(), call.apply(commands).byHash()),
        orElse(
            commands ->
                commands.dispatch(CommandType.EVAL, output(), call.apply(commands).byBody())));
  }

  /** A call that is not known before the driver's thread writes it. */
  interface Late {
    /** Returns the call; called then, and perhaps again: always the same. */
    public Call call();
  }

  /** As {@link #call}, with a call that is asked for when it is written. */
  void send(Reply<List<Object>> reply, Late call) {
    send(
        reply,
        commands -> commands.dispatch(CommandType.EVALSHA, output(), new LateArguments(call)),
        orElse(commands -> commands.dispatch(CommandType.EVAL, output(), call.call().byBody())));
  }

  /**
   * As {@link #call}, where a node that is taking over the slot has to be told that it is asked.
   */
  Reply<List<Object>> callAsking(Call call) {
    return run(
        call,
        commands -> asking(commands, CommandType.EVALSHA, call.byHash()),
        orElse(commands -> asking(commands, CommandType.EVAL, call.byBody())));
  }

  /** Two commands in a row; nothing else is ever sent over a connection that is used for this. */
  private synchronized RedisFuture<List<Object>> asking(
      RedisAsyncCommands<byte[], byte[]> commands,
      CommandType type,
      CommandArgs<byte[], byte[]> args) {
    commands.asking();
    return commands.dispatch(type, output(), args);
  }

  /**
   * Calls a script, and then counts the replicas that have what it wrote; the count is the last
   * element of the answer if something was granted. {@code WAIT} counts the writes of its own
   * connection, so both go over the same one, even if this has reconnected in between.
   *
   * @param asking as with {@link #callAsking}
   * @param reply waited for since before; not sent if its time is over
   */
  void sendAndWait(Call call, ReplicaWait replicaWait, boolean asking, Reply<List<Object>> reply) {
    send(
        reply,
        commands ->
            dispatch(commands, CommandType.EVALSHA, call.byHash(), asking)
                .thenCompose(answer -> counted(commands, answer, replicaWait)),
        orElse(
            commands ->
                dispatch(commands, CommandType.EVAL, call.byBody(), asking)
                    .thenCompose(answer -> counted(commands, answer, replicaWait))));
  }

  private RedisFuture<List<Object>> dispatch(
      RedisAsyncCommands<byte[], byte[]> commands,
      CommandType type,
      CommandArgs<byte[], byte[]> args,
      boolean asking) {
    return asking ? asking(commands, type, args) : commands.dispatch(type, output(), args);
  }

  private static CompletionStage<List<Object>> counted(
      RedisAsyncCommands<byte[], byte[]> commands, List<Object> answer, ReplicaWait replicaWait) {
    if (!(answer.get(0) instanceof Long)) {
      return CompletableFuture.completedFuture(answer); // Nothing was granted.
    }
    return commands
        .waitForReplication(replicaWait.replicas(), replicaWait.timeout().toMillis())
        .thenApply(
            replicas -> {
              List<Object> all = new ArrayList<>(answer);
              all.add(replicas);
              return all;
            });
  }

  private static NestedMultiOutput<byte[], byte[]> output() {
    return new NestedMultiOutput<>(ByteArrayCodec.INSTANCE);
  }
}
