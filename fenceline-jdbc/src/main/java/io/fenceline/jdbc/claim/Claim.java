package io.fenceline.jdbc.claim;

import io.fenceline.jdbc.layout.Micros;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.waiting.ArmedBell;
import io.fenceline.jdbc.waiting.QueuePoller;
import io.fenceline.settings.Durations;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.Refusals;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One claim: asked for, decided in the database, and granted, refused, or left to wait until it is
 * asked for again.
 */
public final class Claim {
  private final ClaimContext context;
  private final ClaimRequest request;
  private final QueuedClaim asking;
  private volatile CompletableFuture<ClaimAnswer> answer = new CompletableFuture<>();
  private volatile @Nullable ArmedBell watch;
  private volatile Here here = Here.NO;

  /** Whether the next request is made on the thread that asks. */
  private enum Here {
    NO,
    YES,
    INTERRUPTIBLE
  }

  public Claim(ClaimContext context, ClaimRequest request, ClaimHandler handler) {
    this.context = context;
    this.request = request;
    // The poller looks for it and keeps it alive; asking by itself is only the last resort.
    Duration interval = Durations.times(QueuePoller.patience(request), 10);
    this.asking =
        new QueuedClaim(
            context.description(), request, handler, context.store(), interval, same -> send());
  }

  /**
   * As {@link #ask}, on a thread that waits for the answer.
   *
   * @param interruptible whether an interrupt ends the wait
   */
  public void askHere(boolean interruptible) {
    here = interruptible ? Here.INTERRUPTIBLE : Here.YES;
    asking.ask();
  }

  /** Asks for it, now and whenever its turn may have come, until there is an answer. */
  public void ask() {
    asking.ask();
  }

  private CompletableFuture<ClaimAnswer> send() {
    CompletableFuture<ClaimAnswer> answered = new CompletableFuture<>();
    answer = answered;
    context.unanswered().put(request.owner(), this);
    asked()
        .whenComplete((given, failure) -> waitOrLeave(given))
        .whenComplete(
            (given, failure) -> {
              context.unanswered().remove(request.owner(), this);
              if (failure == null) {
                answered.complete(given);
              } else {
                answered.completeExceptionally(failure);
              }
            });
    return answered;
  }

  private CompletableFuture<ClaimAnswer> asked() {
    Here asked = here;
    here = Here.NO; // Whoever asks again does so on a thread of ours.
    String otherwise = "A claim of lock '" + request.name() + "' failed";
    try {
      return asked == Here.NO
          ? context.requests().answer(otherwise, this::decide)
          : context.requests().answerHere(otherwise, asked == Here.INTERRUPTIBLE, this::decide);
    } catch (Throwable e) { // Whoever withdraws it waits for its answer.
      return CompletableFuture.failedFuture(e);
    }
  }

  private ClaimAnswer decide(SqlConnection db) throws SQLException {
    boolean waits = context.waiters().has(request.owner());
    long patience = Micros.of(QueuePoller.patience(request));
    long seen = context.seen().get();
    ArmedBell before = context.waiters().watch();
    watch = before;
    ClaimAnswer given = context.fastPath().claim(db, request, waits, patience, seen, before);
    if (given == null) {
      given =
          context
              .names()
              .claim(db, request, name -> name.claim(request, context.client(), patience, seen));
    }
    if (given instanceof ClaimAnswer.Granted granted) {
      learn(db, granted.number());
    }
    return given;
  }

  /** A statement grants what the clock and the client say; too large a number is given back. */
  private void learn(SqlConnection db, long number) throws SQLException {
    if (number > GrantNumbers.MAX) {
      context.names().withdraw(db, request);
      throw Refusals.numberTooLarge(request.name(), number, GrantNumbers.MAX);
    }
    context.seen().accumulateAndGet(number, Math::max);
  }

  private void waitOrLeave(@Nullable ClaimAnswer given) {
    if (!(given instanceof ClaimAnswer.Waiting waits)) {
      context.waiters().remove(request.owner());
      return;
    }
    context.waiters().add(request, asking, waits.obstacle().remaining(), watch);
    if (asking.isOver()) {
      // It was withdrawn between the hint that made it ask and the request.
      CompletableFuture<Void> unused = withdraw(context, request);
    }
  }

  // Withdrawal. ---------------------------------------------------------------------------------

  /**
   * Withdraws it once its request is answered: one that is under way on another thread could arrive
   * after the withdrawal, and wait or be granted for ever.
   */
  public CompletableFuture<Void> withdraw() {
    asking.stop();
    return answer.handle((given, failure) -> context).thenCompose(any -> withdraw(any, request));
  }

  /** Withdraws a claim that has no request under way, be it waiting or granted. */
  public static CompletableFuture<Void> withdraw(ClaimContext context, ClaimRequest request) {
    QueuedClaim waiting = context.waiters().remove(request.owner());
    if (waiting != null) {
      waiting.stop();
    }
    return context
        .requests()
        .answer(
            "A withdrawal from lock '" + request.name() + "' failed",
            db -> {
              context.names().withdraw(db, request);
              return request;
            })
        .thenAccept(done -> {});
  }
}
