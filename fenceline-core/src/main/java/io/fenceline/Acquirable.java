package io.fenceline;

import com.google.errorprone.annotations.CheckReturnValue;
import com.google.errorprone.annotations.MustBeClosed;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Something that can be acquired for a while; {@code acquire} throws, {@code tryAcquire} answers,
 * {@code …Async} returns a future, and all of them behave alike.
 *
 * <p>A call that fails, is interrupted, or is cancelled has taken nothing: what a lost answer may
 * have left at the store is undone in the background, and ends with its lease at the latest.
 *
 * <p>Thread-safe.
 *
 * @param <H> what an acquisition gives
 */
public interface Acquirable<H extends Held> {

  /**
   * Acquires it, waiting up to {@code maxWait}; keeps trying for as long while the store is down.
   *
   * @throws LockTimeoutException if others kept it for all of {@code maxWait}
   * @throws StoreUnavailableException if the store gave no answer; you hold nothing, and the name
   *     may stay closed for up to one lease
   * @throws ModeConflictException if the name is in use in another way
   */
  @MustBeClosed
  H acquire(Duration maxWait) throws InterruptedException;

  /**
   * Acquires it if it is free now; empty means that someone else holds it, or waits for it.
   *
   * @throws StoreUnavailableException if the store gave no answer within the operation timeout
   */
  @CheckReturnValue
  Optional<H> tryAcquire();

  /** As {@link #acquire}, without blocking. Cancelling the future abandons the wait. */
  @CheckReturnValue
  CompletableFuture<H> acquireAsync(Duration maxWait);

  /** As {@link #tryAcquire}, without blocking. */
  @CheckReturnValue
  CompletableFuture<Optional<H>> tryAcquireAsync();

  /**
   * Acquires, does the work, and releases.
   *
   * @throws LockLostException if it was lost while the task ran; suppressed under the task's own
   *     exception where it threw one
   */
  default <X extends Exception> void run(Duration maxWait, HoldAction<? super H, X> action)
      throws InterruptedException, X {
    Objects.requireNonNull(action, "action");
    this.<Optional<Void>, X>call(
        maxWait,
        held -> {
          action.run(held);
          return Optional.empty();
        });
  }

  /**
   * As {@link #run(Duration, HoldAction)}, and interrupts the task at a limit.
   *
   * @throws WorkLimitException if the limit was reached
   * @throws InvalidSettingException if the limit is not below a fixed lease
   */
  default <X extends Exception> void run(
      Duration maxWait, Duration workLimit, HoldAction<? super H, X> action)
      throws InterruptedException, X {
    Objects.requireNonNull(action, "action");
    this.<Optional<Void>, X>call(
        maxWait,
        workLimit,
        held -> {
          action.run(held);
          return Optional.empty();
        });
  }

  /** As {@link #run(Duration, HoldAction)}, for work that gives a result. */
  <T, X extends Exception> T call(Duration maxWait, HoldTask<? super H, T, X> task)
      throws InterruptedException, X;

  /** As {@link #run(Duration, Duration, HoldAction)}, for work that gives a result. */
  <T, X extends Exception> T call(
      Duration maxWait, Duration workLimit, HoldTask<? super H, T, X> task)
      throws InterruptedException, X;

  /**
   * Acquires, starts the work, and releases when its stage completes.
   *
   * <p>The future fails with {@link LockLostException} if it was lost meanwhile.
   */
  @CheckReturnValue
  <T> CompletableFuture<T> callAsync(
      Duration maxWait, Function<? super H, ? extends CompletionStage<T>> task);
}
