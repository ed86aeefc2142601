package io.fenceline.redis.connection;

import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Script;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that comes back by itself, and never says anything twice.
 *
 * <p>Requests of all threads share it, so that they go over the wire one after another without
 * waiting for each other; answers are given on the driver's own thread. A request that finds no
 * connection waits for one, within its time. A request that was sent and not answered when the
 * connection broke has failed: whether the server did it is not known, and not for this class to
 * find out.
 */
public final class Wire {
  /*
   * Why not the driver's own reconnection: with it, Lettuce sends again what was not answered, which
   * for a claim that was given up means a grant that nobody knows of. So the driver's connections are
   * made without it, fail what is under way when they break, and are replaced here.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Wire.class);
  private static final long FIRST_PAUSE_NANOS = 20_000_000;
  private static final int DOUBLINGS = 6;

  /** What a request sends, given a connection. */
  public interface Request<T>
      extends Function<RedisAsyncCommands<byte[], byte[]>, CompletionStage<T>> {}

  /** A request that waits for a connection. */
  private record Unsent(Reply<?> reply, Runnable send) {}

  private final String server;
  private final Supplier<
          ? extends CompletionStage<? extends StatefulRedisConnection<byte[], byte[]>>>
      dialer;
  private final Time time;
  private final ReplyTimeouts deadlines;
  private final Runnable whenBroken;
  private volatile @Nullable StatefulRedisConnection<byte[], byte[]> connection;
  private volatile boolean lackedScript;

  // Guarded by this.
  private final ArrayDeque<Unsent> unsent = new ArrayDeque<>();
  private @Nullable CompletableFuture<Void> dialing;
  private Time.@Nullable Timer redial;
  private boolean closed;
  private int failures;

  /**
   * A wire that is not connected yet.
   *
   * @param whenBroken told each time that the connection is lost or can't be made
   */
  Wire(
      String server,
      Supplier<? extends CompletionStage<? extends StatefulRedisConnection<byte[], byte[]>>> dialer,
      Time time,
      ReplyTimeouts deadlines,
      Runnable whenBroken) {
    this.server = server;
    this.dialer = dialer;
    this.time = time;
    this.deadlines = deadlines;
    this.whenBroken = whenBroken;
  }

  /** Calls a script by its hash, or with its body where the server does not know it yet. */
  public Reply<List<Object>> call(Call call) {
    Reply<List<Object>> reply = expect(call);
    send(call, reply);
    return reply;
  }

  /** An answer that is waited for from now on, to something that is sent soon. */
  Reply<List<Object>> expect(Object what) {
    return deadlines.expect(what, server);
  }

  /** As {@link #call}, with an answer that was waited for before. */
  void send(Call call, Reply<List<Object>> reply) {
    send(
        reply,
        commands -> commands.dispatch(CommandType.EVALSHA, output(), call.byHash()),
        commands -> commands.dispatch(CommandType.EVAL, output(), call.byBody()));
  }

  /** As {@link #call}, with arguments that depend on the connection that it is sent over. */
  public Reply<List<Object>> call(
      Script script, Function<RedisAsyncCommands<byte[], byte[]>, Call> call) {
    Reply<List<Object>> reply = expect(script);
    send(
        reply,
        commands -> commands.dispatch(CommandType.EVALSHA, output(), call.apply(commands).byHash()),
        commands -> commands.dispatch(CommandType.EVAL, output(), call.apply(commands).byBody()));
    return reply;
  }

  /** A call that is not known before the driver's thread writes it. */
  interface Late {
    /** Asked then, and perhaps again: always the same. */
    public Call call();
  }

  /** As {@link #call}, with a call that is asked for when it is written. */
  void send(Reply<List<Object>> reply, Late call) {
    send(
        reply,
        commands -> commands.dispatch(CommandType.EVALSHA, output(), new LateArguments(call)),
        commands -> commands.dispatch(CommandType.EVAL, output(), call.call().byBody()));
  }

  /**
   * As {@link #call}, where a node that is taking over the slot has to be told that it is asked.
   */
  Reply<List<Object>> callAsking(Call call) {
    Reply<List<Object>> reply = deadlines.expect(call, server);
    send(
        reply,
        commands -> asking(commands, CommandType.EVALSHA, call.byHash()),
        commands -> asking(commands, CommandType.EVAL, call.byBody()));
    return reply;
  }

  /** Two commands in a row; nothing else is ever sent over a wire that is used for this. */
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
   * connection, so both go over the same one, even if this wire has got another one meanwhile.
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
        commands ->
            dispatch(commands, CommandType.EVAL, call.byBody(), asking)
                .thenCompose(answer -> counted(commands, answer, replicaWait)));
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

  /** Whether the server did not know a script that was called by its hash. */
  boolean lackedScript() {
    return lackedScript;
  }

  /** Sends any other request. */
  public <T> CompletableFuture<T> run(String what, Request<T> request) {
    Reply<T> reply = deadlines.expect(what, server);
    send(reply, request, null);
    return reply;
  }

  private <T> void send(Reply<T> reply, Request<T> request, @Nullable Request<T> withBody) {
    StatefulRedisConnection<byte[], byte[]> now = connection;
    if (now != null) {
      transmit(now, reply, request, withBody);
      return;
    }
    synchronized (this) {
      if (closed) {
        reply.completeExceptionally(NoAnswerException.unsent("The connection is closed"));
        return;
      }
      now = connection;
      if (now == null) {
        unsent.add(new Unsent(reply, () -> send(reply, request, withBody)));
        time.schedule(
            deadlines.unsentNanos, () -> time.lane(Lane.WORK).execute(reply::dropHindered));
        dial();
        return;
      }
    }
    transmit(now, reply, request, withBody);
  }

  private <T> void transmit(
      StatefulRedisConnection<byte[], byte[]> over,
      Reply<T> reply,
      Request<T> request,
      @Nullable Request<T> withBody) {
    if (!reply.sent(() -> lost(over))) {
      reply.completeExceptionally(NoAnswerException.unsent("It was given up")); // Or else before.
      return;
    }
    CompletionStage<T> sent;
    try {
      sent = request.apply(over.async());
    } catch (RuntimeException e) {
      reply.completeExceptionally(e);
      return;
    }
    sent.whenComplete(
        (value, thrown) -> {
          Throwable failure = Failures.unwrapped(thrown);
          if (failure == null) {
            reply.complete(value);
          } else if (failure instanceof RedisNoScriptException && withBody != null) {
            lackedScript = true;
            transmit(over, reply, withBody, null);
          } else {
            failed(over, reply, failure);
          }
        });
  }

  private void failed(
      StatefulRedisConnection<byte[], byte[]> over, Reply<?> reply, Throwable failure) {
    boolean cancelled = failure instanceof CancellationException;
    reply.completeExceptionally(
        cancelled
            ? NoAnswerException.afterSending("The connection to " + server + " broke")
            : failure);
    if (Failures.isOfAReplica(failure)) {
      over.closeAsync(); // No longer the master: whoever is, is found by dialing again.
    }
  }

  // The connection. -----------------------------------------------------------------------------

  /** Completes when there is a connection; fails with why the try that is under way gave none. */
  CompletableFuture<Void> connect() {
    CompletableFuture<Void> attempt;
    synchronized (this) {
      if (connection != null) {
        return CompletableFuture.completedFuture(null);
      }
      attempt = dialing;
    }
    return attempt == null ? dial() : attempt;
  }

  private CompletableFuture<Void> dial() {
    CompletableFuture<Void> attempt = new CompletableFuture<>();
    synchronized (this) {
      if (dialing != null || closed || connection != null) {
        return dialing == null ? CompletableFuture.completedFuture(null) : dialing;
      }
      dialing = attempt;
    }
    dialNow(attempt);
    return attempt;
  }

  private void dialNow(CompletableFuture<Void> attempt) {
    CompletionStage<? extends StatefulRedisConnection<byte[], byte[]>> made;
    try {
      made = dialer.get();
    } catch (Throwable e) { // Whatever it was, it must not be the last dial.
      made = CompletableFuture.failedFuture(e);
    }
    made.whenComplete(
        (opened, failure) -> {
          if (opened == null) {
            retry(failure);
            attempt.completeExceptionally(failure);
          } else {
            opened(opened);
            attempt.complete(null);
          }
        });
  }

  private void opened(StatefulRedisConnection<byte[], byte[]> opened) {
    List<Unsent> toSend;
    synchronized (this) {
      dialing = null;
      failures = 0;
      if (closed) {
        opened.closeAsync();
        return;
      }
      connection = opened;
      toSend = new ArrayList<>(unsent);
      unsent.clear();
    }
    opened.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> lost) {
            lost(opened);
          }
        });
    if (!opened.isOpen()) {
      lost(opened); // It broke before we listened.
    }
    for (Unsent request : toSend) {
      if (!request.reply.isDone()) {
        request.send.run();
      }
    }
  }

  private void lost(StatefulRedisConnection<byte[], byte[]> broken) {
    synchronized (this) {
      if (connection != broken) {
        return;
      }
      connection = null;
    }
    broken.closeAsync();
    LOG.debug("The connection to {} broke; dialing again", server);
    whenBroken.run();
    dial();
  }

  /** There is no connection: whoever waits for one hears why, at once if it is for good. */
  private void retry(Throwable failure) {
    Throwable cause = Failures.unwrapped(failure);
    boolean refused = Failures.isRefusal(cause);
    String why = cause == null ? "" : Failures.words(cause);
    List<Unsent> left;
    synchronized (this) {
      dialing = null;
      unsent.removeIf(request -> request.reply.isDone());
      left = new ArrayList<>(unsent);
      if (refused) {
        unsent.clear();
      }
    }
    for (Unsent request : left) {
      request.reply.hinderedBy(why);
      if (refused && cause != null) {
        request.reply.completeExceptionally(cause);
      }
    }
    synchronized (this) {
      if (closed) {
        return;
      }
      long pause = FIRST_PAUSE_NANOS << Math.min(failures++, DOUBLINGS);
      if (failures == 1) {
        LOG.warn("No connection to {}; trying again until there is one ({})", server, why);
      }
      if (redial != null) {
        redial.cancel(); // Of a dial before: requests dial too, and each would go on for itself.
      }
      redial = time.schedule(pause, () -> time.lane(Lane.WORK).execute(this::dial));
    }
    whenBroken.run();
  }

  /** Dials anew: what it is connected to, if it is, is of no use any more. */
  void replace() {
    StatefulRedisConnection<byte[], byte[]> now = connection;
    if (now != null) {
      lost(now);
    }
  }

  boolean isConnected() {
    StatefulRedisConnection<byte[], byte[]> now = connection;
    return now != null && now.isOpen();
  }

  CompletableFuture<Void> closeAsync() {
    List<Unsent> left;
    StatefulRedisConnection<byte[], byte[]> last;
    synchronized (this) {
      closed = true;
      left = new ArrayList<>(unsent);
      unsent.clear();
      last = connection;
      connection = null;
    }
    left.forEach(
        request ->
            request.reply.completeExceptionally(
                NoAnswerException.unsent("The connection is closed")));
    return last == null ? CompletableFuture.completedFuture(null) : last.closeAsync();
  }
}
