package io.fenceline.runtime;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Acquirable;
import io.fenceline.Held;
import io.fenceline.HoldTask;
import io.fenceline.InvalidSettingException;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.spi.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** What every acquirable does alike: running work under what was acquired. */
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
  public Optional<H> tryAcquire() {
    return Futures.await(engine.time, tryAcquireAsync());
  }

  @Override
  public <T, X extends Exception> T call(Duration maxWait, HoldTask<? super H, T, X> task)
      throws InterruptedException, X {
    Objects.requireNonNull(task, "task");
    return new TaskRun<H, T, X>(engine, what(), Optional.empty()).run(acquireOpen(maxWait), task);
  }

  @Override
  public <T, X extends Exception> T call(
      Duration maxWait, Duration workLimit, HoldTask<? super H, T, X> task)
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

  @SuppressWarnings("MustBeClosedChecker") // The run releases it.
  private H acquireOpen(Duration maxWait) throws InterruptedException {
    return acquire(maxWait);
  }

  @Override
  public <T> CompletableFuture<T> callAsync(
      Duration maxWait, Function<? super H, ? extends CompletionStage<T>> task) {
    Objects.requireNonNull(task, "task");
    CompletableFuture<H> acquired = acquireAsync(maxWait);
    CompletableFuture<T> result = new CompletableFuture<>();
    result.whenComplete(
        (value, failure) -> {
          if (result.isCancelled()) {
            acquired.cancel(false);
          }
        });
    acquired.whenComplete(
        (held, failure) -> {
          if (held == null) {
            result.completeExceptionally(Futures.unwrapped(failure));
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
    } catch (Throwable e) { // Whatever it throws, the lock is given back.
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
