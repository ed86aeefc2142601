package io.fenceline.redis.fence;

import io.fenceline.FencingToken;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.FenceMarks;
import io.fenceline.fence.FenceNotices;
import io.fenceline.redis.connection.Failures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.BooleanOutput;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.ObjectOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Calls guarded scripts over a connection of the user's, and understands their answers. */
public final class FenceCalls<K, V> {
  private static final String REFUSED = "FENCED ";

  /** No script has this hash: the command is refused, and nothing done. */
  private static final byte[] NO_HASH = "0".repeat(40).getBytes(StandardCharsets.US_ASCII);

  private static final byte[] NO_BODY = "return false".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] MARKS = "flf1:{".getBytes(StandardCharsets.US_ASCII);

  private final BaseRedisAsyncCommands<K, V> commands;
  private final RedisCodec<K, V> codec;
  private final FenceNotices notices;
  private final long keepMillis;

  public FenceCalls(
      BaseRedisAsyncCommands<K, V> commands,
      RedisCodec<K, V> codec,
      FenceNotices notices,
      long keepMillis) {
    this.commands = commands;
    this.codec = codec;
    this.notices = notices;
    this.keepMillis = keepMillis;
  }

  public FenceCalls<K, V> keeping(long millis) {
    return new FenceCalls<>(commands, codec, notices, millis);
  }

  public FenceCalls<K, V> telling(FenceListener listener) {
    return new FenceCalls<>(commands, codec, notices.with(listener), keepMillis);
  }

  public <T> CompletableFuture<T> call(
      FenceScript script,
      ScriptOutputType output,
      K resource,
      FencingToken token,
      List<K> keys,
      Consumer<CommandArgs<K, V>> more) {
    Objects.requireNonNull(token, "token");
    byte[] name = bytes(codec.encodeKey(resource));
    CompletableFuture<T> verdict = new CompletableFuture<>();
    Function<byte[], CommandArgs<K, V>> arguments =
        which -> fill(new CommandArgs<>(codec), which, resource, name, token, keys, more);
    Sending<T> sending = new Sending<>(script, output, verdict, arguments);
    sending.send(
        CommandType.EVALSHA,
        script.hash(),
        NO_HASH,
        (answer, failure) -> {
          if (Failures.unwrapped(failure) instanceof RedisNoScriptException) {
            sending.send(
                CommandType.EVAL,
                script.body(),
                NO_BODY,
                (again, why) -> judge(verdict, name, token, again, why));
          } else {
            judge(verdict, name, token, answer, failure);
          }
        });
    return verdict;
  }

  /** One call on its way. */
  private final class Sending<T> {
    private final FenceScript script;
    private final ScriptOutputType type;
    private final CompletableFuture<T> verdict;
    private final Function<byte[], CommandArgs<K, V>> arguments;

    Sending(
        FenceScript script,
        ScriptOutputType type,
        CompletableFuture<T> verdict,
        Function<byte[], CommandArgs<K, V>> arguments) {
      this.script = script;
      this.type = type;
      this.verdict = verdict;
      this.arguments = arguments;
    }

    /**
     * Sends the command; a script of the user's at most once, whatever the driver does.
     *
     * @param which the script's hash or body
     * @param harmless another one, that does nothing
     */
    void send(
        CommandType command,
        byte[] which,
        byte[] harmless,
        BiConsumer<@Nullable T, @Nullable Throwable> answered) {
      if (verdict.isDone()) {
        return; // Cancelled.
      }
      CommandOutput<K, V, T> output = output(type);
      CommandArgs<K, V> args = arguments.apply(which);
      CompletableFuture<T> sent;
      if (script.isRepeatable()) {
        sent = commands.<T>dispatch(command, output, args).toCompletableFuture();
        sent.whenComplete(answered);
      } else {
        OnceArguments<K, V> once = new OnceArguments<>(codec, () -> arguments.apply(harmless));
        once.addAll(args);
        sent =
            commands
                .<T>dispatch(command, new RedirectedOutput<>(codec, output, once::redirected), once)
                .toCompletableFuture();
        sent.whenComplete(
            (answer, failure) -> {
              Throwable cause = Failures.unwrapped(failure);
              boolean answers = cause == null || cause instanceof RedisCommandExecutionException;
              if (once.wasRepeated() || (once.wasWritten() && !answers)) {
                verdict.completeExceptionally(unknown(failure));
              } else {
                answered.accept(answer, failure);
              }
            });
      }
      // Else the driver would send it when it has reconnected, long after its caller gave up.
      verdict.whenComplete(
          (answer, failure) -> {
            if (verdict.isCancelled()) {
              sent.cancel(true);
            }
          });
    }
  }

  private static StoreUnavailableException unknown(@Nullable Throwable failure) {
    return new StoreUnavailableException(
        "redis",
        "A guarded script was sent, and its answer did not arrive; it may have run once",
        failure);
  }

  /** The resource comes first: a Cluster's driver sends the command to the node of that key. */
  private CommandArgs<K, V> fill(
      CommandArgs<K, V> args,
      byte[] script,
      K resource,
      byte[] name,
      FencingToken token,
      List<K> keys,
      Consumer<CommandArgs<K, V>> more) {
    args.add(script).add(2 + keys.size()).addKey(resource).add(marksKey(name)).addKeys(keys);
    args.add(offer(token));
    more.accept(args);
    return args;
  }

  /** As the marks will be, so that a holder's further writes are told by one comparison. */
  private String offer(FencingToken token) {
    FenceMarks marks = new FenceMarks(token.value(), token.value());
    return (token.exclusive() ? "" : "s") + marks.text() + " " + keepMillis;
  }

  private <T> void judge(
      CompletableFuture<T> verdict,
      byte[] name,
      FencingToken token,
      @Nullable T answer,
      @Nullable Throwable failure) {
    Throwable cause = Failures.unwrapped(failure);
    String shown = new String(name, StandardCharsets.UTF_8);
    if (cause == null) {
      notices.accepted(shown, token);
      complete(verdict, answer);
      return;
    }
    String message = String.valueOf(cause.getMessage());
    if (message.startsWith(REFUSED)) {
      long mark = Long.parseLong(message.substring(REFUSED.length()).strip());
      verdict.completeExceptionally(notices.refused(shown, token, mark));
    } else {
      verdict.completeExceptionally(cause instanceof CompletionException wrapped ? wrapped : cause);
    }
  }

  /** A script may well answer with nothing, which a future can hold and its type can't say. */
  @SuppressWarnings("NullAway")
  private static <T> void complete(CompletableFuture<T> verdict, @Nullable T answer) {
    verdict.complete(answer);
  }

  /** The marks of a resource: in its slot, whether it has a hash tag or not. */
  static byte[] marksKey(byte[] resource) {
    int from = 0;
    int to = resource.length;
    int open = indexOf(resource, '{', 0);
    int close = open < 0 ? -1 : indexOf(resource, '}', open + 1);
    if (close > open + 1) {
      from = open + 1;
      to = close;
    }
    ByteBuffer key = ByteBuffer.allocate(MARKS.length + (to - from) + 1 + resource.length);
    key.put(MARKS).put(resource, from, to - from).put((byte) '}').put(resource);
    return key.array();
  }

  private static int indexOf(byte[] bytes, char wanted, int from) {
    for (int i = from; i < bytes.length; i++) {
      if (bytes[i] == wanted) {
        return i;
      }
    }
    return -1;
  }

  private static byte[] bytes(ByteBuffer encoded) {
    byte[] all = new byte[encoded.remaining()];
    encoded.get(all);
    return all;
  }

  /** As the driver does it for its own methods; the caller's type has to fit, as there. */
  @SuppressWarnings("unchecked")
  private <T> CommandOutput<K, V, T> output(ScriptOutputType type) {
    CommandOutput<K, V, ?> output =
        switch (type) {
          case BOOLEAN -> new BooleanOutput<>(codec);
          case INTEGER -> new IntegerOutput<>(codec);
          case STATUS -> new StatusOutput<>(codec);
          case VALUE -> new ValueOutput<>(codec);
          case MULTI -> new ArrayOutput<>(codec);
          case OBJECT -> new ObjectOutput<>(codec);
        };
    return (CommandOutput<K, V, T>) output;
  }
}
