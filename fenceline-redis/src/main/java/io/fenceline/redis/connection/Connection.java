package io.fenceline.redis.connection;

import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
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
 * A connection that reconnects by itself, and never sends a request twice.
 *
 * <p>All threads share it: their requests are sent one after another without waiting for each
 * other, and answers arrive on the driver's thread. A request that finds no connection waits for
 * one, within its time. A request that was sent and not answered when the connection broke has
 * failed: its outcome is unknown, and not for this class to find out.
 */
public class Connection {
  /*
   * Why not the driver's own reconnection: with it, Lettuce sends again what was not answered, which
   * for a claim that was given up means a grant that nobody knows of. So the driver's connections are
   * made without it, fail what is under way when they break, and are replaced here.
   *
   * Why a request that the driver did not take, since the connection had just ended, is not sent over
   * the next one: others may have been told that it was on its way, such as who withdraws it. What
   * they send after it could then come before it, and a grant would be made that nobody knows of.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Connection.class);
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

  // Guarded by this.
  private final ArrayDeque<Unsent> unsent = new ArrayDeque<>();
  private @Nullable CompletableFuture<Void> dialing;
  private Time.@Nullable Timer redial;
  private boolean closed;
  private int failures;

  /**
   * A connection that does not dial yet.
   *
   * @param whenBroken told each time that the connection is lost or can't be made
   */
  Connection(
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

  /** An answer that is waited for from now on, to something that is sent soon. */
  final <T> Reply<T> expect(Object what) {
    return deadlines.expect(what, server);
  }

  /** Sends a request. */
  public final <T> CompletableFuture<T> run(String what, Request<T> request) {
    return run(what, request, null);
  }

  /** Sends a request, and once more what its fallback says, over the same connection. */
  final <T> Reply<T> run(Object what, Request<T> request, @Nullable Fallback<T> fallback) {
    Reply<T> reply = deadlines.expect(what, server);
    send(reply, request, fallback);
    return reply;
  }

  /** Says which request to send after another one has failed; null for none. */
  interface Fallback<T> {
    @Nullable Request<T> after(Throwable failure);
  }

  /** As {@link #run}, with an answer that was waited for before. */
  final <T> void send(Reply<T> reply, Request<T> request, @Nullable Fallback<T> fallback) {
    StatefulRedisConnection<byte[], byte[]> now = connection;
    if (now != null) {
      transmit(now, reply, request, fallback);
      return;
    }
    synchronized (this) {
      if (closed) {
        reply.completeExceptionally(NoAnswerException.unsent("The connection is closed"));
        return;
      }
      now = connection;
      if (now == null) {
        unsent.add(new Unsent(reply, () -> send(reply, request, fallback)));
        time.schedule(
            deadlines.unsentNanos, () -> time.lane(Lane.WORK).execute(reply::dropHindered));
        dial();
        return;
      }
    }
    transmit(now, reply, request, fallback);
  }

  private <T> void transmit(
      StatefulRedisConnection<byte[], byte[]> over,
      Reply<T> reply,
      Request<T> request,
      @Nullable Fallback<T> fallback) {
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
          Throwable failure = thrown == null ? null : Failures.unwrapped(thrown);
          if (failure == null) {
            reply.complete(value);
            return;
          }
          Request<T> next = fallback == null ? null : fallback.after(failure);
          if (next == null) {
            failed(over, reply, failure);
          } else {
            transmit(over, reply, next, null);
          }
        });
  }

  private void failed(
      StatefulRedisConnection<byte[], byte[]> over, Reply<?> reply, Throwable failure) {
    boolean ended = Failures.isOfAnEndedConnection(failure);
    if (ended) {
      lost(over); // First, so that whoever hears of the failure finds it gone, and waits for
      // another.
    }
    reply.completeExceptionally(
        ended || failure instanceof CancellationException
            ? NoAnswerException.afterSending("The connection to " + server + " broke")
            : failure);
    if (Failures.isOfAReplica(failure)) {
      over.closeAsync(); // No longer the master: whoever is, is found by dialing again.
    }
  }

  // The connection. -----------------------------------------------------------------------------

  /** Completes when there is a connection; fails with why the try that is under way gave none. */
  final CompletableFuture<Void> connect() {
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
  final void replace() {
    StatefulRedisConnection<byte[], byte[]> now = connection;
    if (now != null) {
      lost(now);
    }
  }

  final boolean isConnected() {
    StatefulRedisConnection<byte[], byte[]> now = connection;
    return now != null && now.isOpen();
  }

  final CompletableFuture<Void> closeAsync() {
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
