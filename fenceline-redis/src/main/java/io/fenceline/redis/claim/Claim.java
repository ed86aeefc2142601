package io.fenceline.redis.claim;

import io.fenceline.redis.layout.Layout;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Validity;
import io.fenceline.time.Lane;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One claim, from the first request until it is granted, refused, failed or withdrawn: a state
 * machine that is read from top to bottom.
 *
 * <p>The server keeps the queue. A claim is asked for, and while it waits it is asked for again:
 * each answer is the truth, and a message that it is granted is a hint that saves waiting for the
 * next one. State changes under the claim's monitor; requests are sent, and the handler is told,
 * outside of it.
 */
public final class Claim {
  /*
   * What would break it, and why it can't:
   *
   * - A grant by message that is believed for too long: the message may have been under way for any
   *   time. If the grant came after our last request that was answered with "waiting", the lease
   *   counts from before that one was sent, and table.lua tells a length that fits; otherwise the
   *   message only makes us ask.
   * - A message about a grant that has ended since: it was late, the grant ran out, and our next
   *   request put us into the queue again. Its number is not above the last one that the server had
   *   granted when it answered "waiting".
   * - A message that overtakes the answer to the request that it is about: the claim can be found by
   *   messages before the script that lets it wait is called. Most claims never get there.
   * - A lost message: the next request brings the same news.
   * - A request that is overtaken by the release of what it asked for, and grants the name anew to an
   *   owner that is done: every answer is reported, however late, and the runtime undoes what it no
   *   longer wants. So is every failure: the request may have been granted all the same.
   * - A withdrawal that comes between the short script and the full one stops nothing; the full one's
   *   answer is heard, and the runtime withdraws again.
   */
  private static final long USUAL_INTERVAL_NANOS = 1_000_000_000;

  private final ClaimRequest request;
  private final ClaimHandler handler;
  private final ClaimContext context;
  private final Time time;
  private final int bucket;

  /** Set when messages can find it, and kept. */
  private volatile @Nullable String ownerHash;

  /** Guarded by this. */
  private State state = new New();

  /** Where a claim stands. */
  private sealed interface State {
    /** What the last answer said of its place in the queue; null if it has none. */
    default @Nullable Queued queued() {
      return null;
    }
  }

  /** Not asked for yet. */
  private record New() implements State {}

  /**
   * A request is under way.
   *
   * @param again whether it is to be asked again after the answer, since a message came meanwhile
   */
  private record Asking(@Nullable Queued queued, boolean again) implements State {}

  /** In the queue, until a message or a timer. */
  private record Waiting(Queued queued, Time.@Nullable Timer timer) implements State {}

  /** Granted, refused, failed or withdrawn. */
  private record Over() implements State {}

  /**
   * A claim has a place in the queue.
   *
   * @param asked before the request was sent whose answer says so
   * @param lastNumber the last one that the server had granted by then
   */
  private record Queued(Moment asked, OptionalLong lastNumber) {}

  /** A claim that has not been asked for yet. */
  public Claim(ClaimRequest request, ClaimHandler handler, ClaimContext context) {
    this.request = request;
    this.handler = handler;
    this.context = context;
    this.time = context.store().time();
    this.bucket = Layout.simple(request.name()).bucket();
  }

  // Asking. -------------------------------------------------------------------------------------

  /**
   * Asks now, or right after the answer that is outstanding; for the first time, or on a hint.
   *
   * <p>What is thrown counts as no answer; but an Error of the first request is thrown on, to
   * whoever claims.
   */
  public void ask() {
    boolean isFirst;
    synchronized (this) {
      if (state instanceof Over) {
        return;
      }
      if (state instanceof Asking asking) {
        state = new Asking(asking.queued, true);
        return;
      }
      isFirst = state instanceof New;
      cancelTimer();
      state = new Asking(state.queued(), false);
    }
    Moment sent = time.now();
    CompletableFuture<ClaimAnswer> answer;
    try {
      answer = send();
    } catch (Throwable e) {
      if (isFirst && e instanceof Error error) {
        stop();
        throw error;
      }
      failed(e); // On the thread of a timer or a message, nobody else would hear of it.
      return;
    }
    answer.whenComplete(
        (given, failure) -> {
          if (given == null) {
            failed(failure);
            return;
          }
          try {
            answered(given, sent);
          } catch (Throwable e) { // As above: without a timer it would never ask again.
            failed(e);
          }
        });
  }

  /** By the fast path where that may do, else by the script that decides. */
  private CompletableFuture<ClaimAnswer> send() {
    CompletableFuture<OptionalLong> taken = context.fastPath().take(request);
    return taken == null
        ? sendToQueue()
        : taken.thenCompose(
            number ->
                number.isPresent()
                    ? CompletableFuture.completedFuture(
                        new ClaimAnswer.Granted(number.getAsLong(), request.lease()))
                    : sendToQueue());
  }

  private CompletableFuture<ClaimAnswer> sendToQueue() {
    if (request.waits() && ownerHash == null) { // Not again, if it was stopped since.
      String hash = Claims.hash(request.owner());
      ownerHash = hash;
      context.claims().add(this, hash);
    }
    return context.requests().claim(request);
  }

  // The answer. ---------------------------------------------------------------------------------

  private void answered(ClaimAnswer answer, Moment sent) {
    if (answer instanceof ClaimAnswer.Waiting waiting) {
      waits(waiting, sent);
    } else {
      end();
      answer.tell(handler, sent);
    }
  }

  private void failed(Throwable failure) {
    end();
    handler.failed(context.requests().claimFailure(request, failure));
  }

  // Waiting. ------------------------------------------------------------------------------------

  /** It is in the queue: reported even if it has been withdrawn, since the request came later. */
  private void waits(ClaimAnswer.Waiting answer, Moment sent) {
    boolean again = false;
    synchronized (this) {
      if (state instanceof Asking asking) {
        again = asking.again;
        state =
            new Waiting(
                new Queued(sent, answer.lastNumber()),
                again ? null : time.schedule(pause(answer), this::askOnTimer));
      }
    }
    handler.waiting(answer.obstacle());
    CompletableFuture<Void> listening = context.topology().listen(bucket);
    if (!listening.isDone()) {
      listening.thenRun(this::ask); // Messages may have been missed.
    }
    if (again) {
      ask();
    }
  }

  /** When the server wants to be asked again, and up to a tenth more. */
  private long pause(ClaimAnswer.Waiting answer) {
    Duration wanted = answer.askAgain();
    long pause = wanted == null ? USUAL_INTERVAL_NANOS : wanted.toNanos();
    return pause + (long) (context.store().random().nextDouble() * pause / 10);
  }

  private void askOnTimer() {
    time.lane(Lane.WORK).execute(this::ask);
  }

  /** A message for this claim: a grant, or, without a number, that it is time to ask. */
  void told(long number, Duration length) {
    context.seen().accumulateAndGet(bucket, number, Math::max);
    Moment from = null;
    synchronized (this) {
      Queued queued = state.queued();
      if (number > 0 && queued != null && queued.lastNumber.isPresent()) {
        if (number <= queued.lastNumber.getAsLong()) {
          return; // That grant had ended before our last request.
        }
        // With less than half of it left, asking gives a whole lease, and keeps our turn.
        if (time.nanos() - queued.asked.nanos() <= length.toNanos() / 2) {
          from = queued.asked;
          over();
        }
      }
    }
    if (from == null) {
      ask();
    } else {
      end();
      handler.granted(new Grant(number, new Validity(from, length)));
    }
  }

  // The end. ------------------------------------------------------------------------------------

  /** The claim was withdrawn: it is not asked for again. */
  void stop() {
    end();
  }

  /** The store is closed. */
  void close(RuntimeException cause) {
    end();
    handler.failed(cause);
  }

  private void end() {
    synchronized (this) {
      over();
    }
    String hash = ownerHash;
    if (hash != null) {
      context.claims().remove(this, hash);
    }
  }

  private void over() {
    cancelTimer();
    state = new Over();
  }

  private void cancelTimer() {
    if (state instanceof Waiting waiting && waiting.timer != null) {
      waiting.timer.cancel();
    }
  }
}
