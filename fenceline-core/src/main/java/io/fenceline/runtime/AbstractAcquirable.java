package io.fenceline.runtime;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Acquirable;
import io.fenceline.Held;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.ReleaseOutcome;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** What all acquirables share: running a task while something is held. */
abstract class AbstractAcquirable<H extends Held> implements Acquirable<H> {
  final Engine engine;
  final LockOptions options;

  AbstractAcquirable(Engine engine, LockOptions options) {
    this.engine = engine;
    this.options = options;
  }

  /** What it is called in messages. */
  abstract String what();

  @Override
  @MustBeClosed
  public abstract H acquire(Duration maxWait) throws InterruptedException;

  @Override
  @MustBeClosed
  public final H acquire() throws InterruptedException {
    return acquire(Durations.LONGEST);
  }

  @Override
  public final Optional<H> tryAcquire(Duration maxWait) throws InterruptedException {
    try {
      return Optional.of(acquireOpen(maxWait));
    } catch (LockTimeoutException e) {
      return Optional.empty();
    }
  }

  @Override
  public final CompletableFuture<H> acquireAsync() {
    return acquireAsync(Durations.LONGEST);
  }

  @Override
  public final CompletableFuture<Optional<H>> tryAcquireAsync(Duration maxWait) {
    CompletableFuture<H> acquiring = acquireAsync(maxWait);
    CompletableFuture<Optional<H>> answer = new CompletableFuture<>();
    answer.whenComplete((held, failure) -> acquiring.cancel(false));
    acquiring.whenComplete(
        (held, failure) -> {
          if (held != null) {
            if (!answer.complete(Optional.of(held))) {
              giveBack(held);
            }
          } else if (Futures.cause(failure) instanceof LockTimeoutException) {
            answer.complete(Optional.empty());
          } else {
            answer.completeExceptionally(Futures.cause(failure));
          }
        });
    return answer;
  }

  /** Returns a future for the user; a hold that comes after that future is complete is released. */
  final CompletableFuture<H> forUser(CompletableFuture<H> inner) {
    CompletableFuture<H> outer = engine.forUser(inner, AbstractAcquirable::giveBack);
    outer.whenComplete((held, failure) -> inner.cancel(false));
    return outer;
  }

  static void giveBack(Held unwanted) {
    ((LossSource) unwanted).abandon();
  }

  @Override
  public <T, X extends Exception> T call(Duration maxWait, Acquirable.Task<? super H, T, X> task)
      throws InterruptedException, X {
    Objects.requireNonNull(task, "task");
    return new TaskRun<H, T, X>(engine, what(), Optional.empty()).run(acquireOpen(maxWait), task);
  }

  @Override
  public <T, X extends Exception> T call(
      Duration maxWait, Duration workLimit, Acquirable.Task<? super H, T, X> task)
      throws InterruptedException, X {
    Objects.requireNonNull(task, "task");
    Durations.checkPositive("workLimit", workLimit);
    if (!options.autoRenewal() && workLimit.compareTo(options.lease()) >= 0) {
      throw new InvalidSettingException(
          "workLimit",
          workLimit,
          "it must be below the fixed lease of " + Durations.show(options.lease()));
    }
    return new TaskRun<H, T, X>(engine, what(), Optional.of(workLimit))
        .run(acquireOpen(maxWait), task);
  }

  @Override
  public final <T, X extends Exception> Optional<T> tryCall(Acquirable.Task<? super H, T, X> task)
      throws X {
    Objects.requireNonNull(task, "task");
    Optional<H> held = tryAcquire();
    return held.isPresent() ? Optional.of(result(held.get(), task)) : Optional.empty();
  }

  @Override
  public final <T, X extends Exception> Optional<T> tryCall(
      Duration maxWait, Acquirable.Task<? super H, T, X> task) throws InterruptedException, X {
    Objects.requireNonNull(task, "task");
    Optional<H> held = tryAcquire(maxWait);
    return held.isPresent() ? Optional.of(result(held.get(), task)) : Optional.empty();
  }

  private <T, X extends Exception> T result(H held, Acquirable.Task<? super H, T, X> task)
      throws X {
    T result = new TaskRun<H, T, X>(engine, what(), Optional.empty()).run(held, task);
    return Objects.requireNonNull(result, "the task gave null, which says that it was skipped");
  }

  @SuppressWarnings("MustBeClosedChecker") // The caller releases it.
  private H acquireOpen(Duration maxWait) throws InterruptedException {
    return acquire(maxWait);
  }

  @Override
  public <T> CompletableFuture<T> callAsync(
      Duration maxWait, Function<? super H, ? extends CompletionStage<T>> task) {
    Objects.requireNonNull(task, "task");
    CompletableFuture<H> acquired = acquireAsync(maxWait);
    CompletableFuture<T> result = new CompletableFuture<>();
    // The user may complete it: then nobody waits for what the task would return.
    result.whenComplete((value, failure) -> acquired.cancel(false));
    acquired.whenComplete(
        (held, failure) -> {
          if (held == null) {
            result.completeExceptionally(Futures.cause(failure));
          } else if (result.isDone()) {
            giveBack(held);
          } else {
            start(task, held).whenComplete((value, thrown) -> finish(held, value, thrown, result));
          }
        });
    return result;
  }

  private static <H, T> CompletionStage<T> start(
      Function<? super H, ? extends CompletionStage<T>> task, H held) {
    try {
      CompletionStage<T> stage = task.apply(held);
      return Objects.requireNonNull(stage, "the task gave no stage");
    } catch (Throwable e) { // Whatever it throws, the lock is released.
      return CompletableFuture.failedFuture(e);
    }
  }

  private static <H extends Held, T> void finish(
      H held, T value, Throwable thrown, CompletableFuture<T> result) {
    held.releaseAsync()
        .whenComplete(
            (outcome, unused) -> {
              RuntimeException lost =
                  outcome == ReleaseOutcome.ALREADY_LOST && held instanceof LossSource source
                      ? source.lossException()
                      : null;
              if (thrown != null) {
                if (lost != null) {
                  thrown.addSuppressed(lost);
                }
                result.completeExceptionally(thrown);
              } else if (lost != null) {
                result.completeExceptionally(lost);
              } else {
                result.complete(value);
              }
            });
  }
}
