package io.fenceline.spi;

import io.fenceline.FencelineException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.time.Lane;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A claim at a server that keeps a queue: while it waits, the request is repeated until an answer
 * or a message says that it is granted.
 *
 * <p>For stores such as Redis and SQL, where the answer to a repeat is the truth, and a message is
 * only a hint that saves waiting for the next repeat. The store routes messages here by owner, and
 * stops this when the claim is withdrawn.
 */
public final class QueuedClaim {
  /*
   * What would break it, and why it can't:
   *
   * - A grant by message that is believed for too long: the message may have been under way for any
   *   time. If the grant came after the last request that was answered with "waiting", the lease
   *   counts from before that request was sent; otherwise the message only leads to a request.
   * - A message about a grant that has ended since: it was late, the grant ran out, and the next
   *   request queued the claim again. Its number is not above the last one that the server had
   *   granted when it answered "waiting".
   * - A request that is overtaken by the release of its own grant, and grants the name to an owner
   *   that is done: every answer is reported, however late, and the runtime undoes what it no longer
   *   wants.
   * - A lost message: the answer to the next request says the same.
   * - A request that fails after the claim was withdrawn, or granted by a message: the server may
   *   still have granted it after the withdrawal. It is reported like any other, and undone again.
   */

  private final String store;
  private final ClaimRequest request;
  private final ClaimHandler handler;
  private final StoreContext context;
  private final long intervalNanos;
  private final Function<ClaimRequest, CompletionStage<ClaimAnswer>> server;

  // Guarded by this.
  private @Nullable Moment lastWaiting;
  private OptionalLong lastNumber = OptionalLong.empty();
  private Time.@Nullable Timer timer;
  private boolean asked;
  private boolean asking;
  private boolean askAgain;
  private boolean over;

  /**
   * A claim of which no request was sent yet.
   *
   * @param store description of the store, without secrets
   * @param interval how long to wait before asking again, unless the answer says otherwise; a tenth
   *     is added at random
   * @param server sends the request; its stage fails within the operation timeout if no answer
   *     comes
   */
  public QueuedClaim(
      String store,
      ClaimRequest request,
      ClaimHandler handler,
      StoreContext context,
      Duration interval,
      Function<ClaimRequest, CompletionStage<ClaimAnswer>> server) {
    this.store = store;
    this.request = request;
    this.handler = handler;
    this.context = context;
    this.intervalNanos = interval.toNanos();
    this.server = server;
  }

  /**
   * Sends a request, or will do so right after the answer that is outstanding; called to begin, and
   * on a hint.
   *
   * <p>What the store throws counts as no answer, except that an Error of the first request is
   * thrown to the caller.
   */
  public void ask() {
    boolean first;
    synchronized (this) {
      if (over) {
        return;
      }
      if (asking) {
        askAgain = true;
        return;
      }
      asking = true;
      askAgain = false;
      first = !asked;
      asked = true;
      cancelTimer();
    }
    Moment sent = context.time().now();
    CompletionStage<ClaimAnswer> answer;
    try {
      answer = server.apply(request);
    } catch (Throwable e) {
      if (first && e instanceof Error error) {
        stop();
        throw error;
      }
      failed(e); // On the thread of a timer or a message, it would go unnoticed.
      return;
    }
    answer.whenComplete(
        (given, failure) -> {
          if (given != null) {
            answered(given, sent);
          } else {
            failed(failure);
          }
        });
  }

  /** Handles a message that the claim was granted. */
  public void pushed(long number, Duration length) {
    Moment from = null;
    synchronized (this) {
      if (over) {
        return;
      }
      if (lastWaiting != null && lastNumber.isPresent()) {
        if (number <= lastNumber.getAsLong()) {
          return; // That grant had ended before the last request.
        }
        // With less than half of it left, a request gives a whole lease, and keeps the turn.
        long used = context.time().nanos() - lastWaiting.nanos();
        if (used <= length.toNanos() / 2) {
          from = lastWaiting;
          end();
        }
      }
    }
    if (from == null) {
      ask();
    } else {
      handler.granted(new Grant(number, new Validity(from, length)));
    }
  }

  /** The claim was withdrawn: sends no more requests. */
  public synchronized void stop() {
    end();
  }

  /** Returns whether it is granted, refused, failed or withdrawn. */
  public synchronized boolean isOver() {
    return over;
  }

  private void answered(ClaimAnswer answer, Moment sent) {
    boolean again = false;
    synchronized (this) {
      asking = false;
      if (!(answer instanceof ClaimAnswer.Waiting waits)) {
        end();
      } else {
        lastWaiting = sent;
        lastNumber = waits.lastNumber();
        again = askAgain;
        if (!over && !again) {
          timer = context.time().schedule(pause(waits), () -> lane().execute(this::ask));
        }
      }
    }
    answer.tell(handler, sent);
    if (again) {
      ask();
    }
  }

  private void failed(Throwable failure) {
    synchronized (this) {
      asking = false;
      end();
    }
    handler.failed(meaning(failure));
  }

  /** Turns a failure into what the runtime can act on: others than Fenceline's mean no answer. */
  private RuntimeException meaning(Throwable failure) {
    Throwable cause = Causes.unwrap(failure);
    return cause instanceof FencelineException own
        ? own
        : new StoreUnavailableException(
            store, "The claim of lock '%s' failed: %s".formatted(request.name(), cause), cause);
  }

  private Executor lane() {
    return context.time().lane(Lane.WORK);
  }

  private long pause(ClaimAnswer.Waiting answer) {
    long pause = answer.askAgain() == null ? intervalNanos : answer.askAgain().toNanos();
    return pause + (long) (context.random().nextDouble() * pause / 10);
  }

  private void end() {
    over = true;
    cancelTimer();
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }
}
