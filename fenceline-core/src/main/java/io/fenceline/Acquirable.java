package io.fenceline;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.CheckReturnValue;
import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.settings.WaitStrategy;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A lock, several locks or some permits that can be acquired. {@code acquire} throws if it fails,
 * {@code tryAcquire} returns an empty result, and {@code …Async} returns a future; otherwise they
 * behave alike.
 *
 * <p>A call that fails, is interrupted or is cancelled acquires nothing. If a reply was lost, the
 * store may hold a grant: it is undone in the background, and ends with its lease at the latest.
 *
 * <p>Thread-safe.
 *
 * @param <H> the type of hold that an acquisition returns
 */
public interface Acquirable<H extends Held> {

  /**
   * Acquires this, waiting without limit; keeps trying while the store is down. A thread that holds
   * what it waits for is named in the log, as a warning.
   *
   * @throws LockTimeoutException if a retrying {@link WaitStrategy} has used up its retries
   * @throws StoreRefusedException if the store refuses, for example because the name is in use as
   *     another kind of lock
   */
  @MustBeClosed
  H acquire() throws InterruptedException;

  /**
   * Acquires this, waiting up to {@code maxWait}; keeps trying for that long while the store is
   * down.
   *
   * @throws LockTimeoutException if others kept it for all of {@code maxWait}
   * @throws StoreUnavailableException if the store gave no answer; you hold nothing, and the name
   *     may stay closed for up to one lease
   * @throws StoreRefusedException if the store refuses, for example because the name is in use as
   *     another kind of lock
   */
  @MustBeClosed
  H acquire(Duration maxWait) throws InterruptedException;

  /**
   * Acquires this if it is free now; empty means that someone else holds it or waits for it.
   *
   * @throws StoreUnavailableException if the store gave no answer within the operation timeout
   */
  @CheckReturnValue
  Optional<H> tryAcquire();

  /**
   * As {@link #acquire(Duration)}, but returns an empty result instead of throwing if others kept
   * it for all of {@code maxWait}.
   *
   * @throws StoreUnavailableException if the store gave no answer
   */
  @CheckReturnValue
  Optional<H> tryAcquire(Duration maxWait) throws InterruptedException;

  /**
   * As {@link #acquire()}, without blocking. Cancelling the future, or completing it in any other
   * way, abandons the wait.
   */
  @CheckReturnValue
  CompletableFuture<H> acquireAsync();

  /** As {@link #acquire(Duration)}, without blocking; see {@link #acquireAsync()}. */
  @CheckReturnValue
  CompletableFuture<H> acquireAsync(Duration maxWait);

  /** As {@link #tryAcquire()}, without blocking. */
  @CheckReturnValue
  CompletableFuture<Optional<H>> tryAcquireAsync();

  /** As {@link #tryAcquire(Duration)}, without blocking; see {@link #acquireAsync()}. */
  @CheckReturnValue
  CompletableFuture<Optional<H>> tryAcquireAsync(Duration maxWait);

  /**
   * Acquires this, waiting up to {@code maxWait}, runs the action, and releases.
   *
   * @throws LockLostException if it was lost while the action ran; suppressed in the exception of
   *     the action, if that threw one
   */
  default <X extends Exception> void run(Duration maxWait, Action<? super H, X> action)
      throws InterruptedException, X {
    this.<Boolean, X>call(maxWait, Objects.requireNonNull(action, "action").asTask());
  }

  /**
   * As {@link #run(Duration, Action)}, but interrupts the action at a time limit.
   *
   * @throws LimitExceededException if the limit was reached
   * @throws InvalidSettingException if the limit is not below a fixed lease
   */
  default <X extends Exception> void run(
      Duration maxWait, Duration workLimit, Action<? super H, X> action)
      throws InterruptedException, X {
    this.<Boolean, X>call(maxWait, workLimit, Objects.requireNonNull(action, "action").asTask());
  }

  /** As {@link #run(Duration, Action)}, for a task with a result. */
  <T, X extends Exception> T call(Duration maxWait, Task<? super H, T, X> task)
      throws InterruptedException, X;

  /** As {@link #run(Duration, Duration, Action)}, for a task with a result. */
  <T, X extends Exception> T call(Duration maxWait, Duration workLimit, Task<? super H, T, X> task)
      throws InterruptedException, X;

  /**
   * Runs the action if this is free now, and skips it otherwise.
   *
   * <pre>{@code
   * boolean ran = fenceline.lock("nightly").tryRun(hold -> ledger.append(entry, hold.token()));
   * }</pre>
   *
   * @return whether the action ran
   * @throws LockLostException as {@link #run(Duration, Action)}
   */
  @CanIgnoreReturnValue
  default <X extends Exception> boolean tryRun(Action<? super H, X> action) throws X {
    return this.<Boolean, X>tryCall(Objects.requireNonNull(action, "action").asTask()).isPresent();
  }

  /** As {@link #tryRun(Action)}, waiting up to {@code maxWait} before it skips the action. */
  @CanIgnoreReturnValue
  default <X extends Exception> boolean tryRun(Duration maxWait, Action<? super H, X> action)
      throws InterruptedException, X {
    return this.<Boolean, X>tryCall(maxWait, Objects.requireNonNull(action, "action").asTask())
        .isPresent();
  }

  /**
   * As {@link #tryRun(Action)}, for a task with a result, which must not be null; empty means that
   * the task was skipped.
   */
  <T, X extends Exception> Optional<T> tryCall(Task<? super H, T, X> task) throws X;

  /** As {@link #tryCall(Task)}, waiting up to {@code maxWait} before it skips the task. */
  <T, X extends Exception> Optional<T> tryCall(Duration maxWait, Task<? super H, T, X> task)
      throws InterruptedException, X;

  /**
   * Acquires this, starts the task, and releases when its stage completes.
   *
   * <p>The future fails with {@link LockLostException} if the lock was lost meanwhile. Completing
   * the future abandons the wait; a task that has started continues, and the lock is released when
   * it is done.
   */
  @CheckReturnValue
  <T> CompletableFuture<T> callAsync(
      Duration maxWait, Function<? super H, ? extends CompletionStage<T>> task);

  /**
   * An action that runs under a lock.
   *
   * @param <H> what is held
   * @param <X> what it may throw
   */
  @FunctionalInterface
  interface Action<H extends Held, X extends Exception> {

    /** Runs the action. */
    void run(H held) throws X;

    /** Returns this action as a task whose result is true. */
    default Task<H, Boolean, X> asTask() {
      return held -> {
        run(held);
        return true;
      };
    }
  }

  /**
   * A task that runs under a lock and has a result.
   *
   * @param <H> what is held
   * @param <T> the result
   * @param <X> what it may throw
   */
  @FunctionalInterface
  interface Task<H extends Held, T, X extends Exception> {

    /** Runs the task. */
    T call(H held) throws X;
  }
}
