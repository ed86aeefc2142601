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
   * Acquires it, waiting without limit; goes on trying while the store is down.
   *
   * @throws LockTimeoutException if a {@link WaitStrategy} that retries has used up its retries
   * @throws StoreRefusedException if the store refuses: the name is in use in another way, say
   */
  @MustBeClosed
  H acquire() throws InterruptedException;

  /**
   * Acquires it, waiting up to {@code maxWait}; keeps trying for as long while the store is down.
   *
   * @throws LockTimeoutException if others kept it for all of {@code maxWait}
   * @throws StoreUnavailableException if the store gave no answer; you hold nothing, and the name
   *     may stay closed for up to one lease
   * @throws StoreRefusedException if the store refuses: the name is in use in another way, say
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

  /**
   * As {@link #acquire(Duration)}, but answers instead of throwing: empty means that others kept it
   * for all of {@code maxWait}.
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
   * Acquires, waiting up to {@code maxWait}, does the work, and releases.
   *
   * @throws LockLostException if it was lost while the work ran; suppressed under the work's own
   *     exception where it threw one
   */
  default <X extends Exception> void run(Duration maxWait, Action<? super H, X> action)
      throws InterruptedException, X {
    this.<Boolean, X>call(maxWait, Objects.requireNonNull(action, "action").asTask());
  }

  /**
   * As {@link #run(Duration, Action)}, and interrupts the work at a limit.
   *
   * @throws LimitExceededException if the limit was reached
   * @throws InvalidSettingException if the limit is not below a fixed lease
   */
  default <X extends Exception> void run(
      Duration maxWait, Duration workLimit, Action<? super H, X> action)
      throws InterruptedException, X {
    this.<Boolean, X>call(maxWait, workLimit, Objects.requireNonNull(action, "action").asTask());
  }

  /** As {@link #run(Duration, Action)}, for work that gives a result. */
  <T, X extends Exception> T call(Duration maxWait, Task<? super H, T, X> task)
      throws InterruptedException, X;

  /** As {@link #run(Duration, Duration, Action)}, for work that gives a result. */
  <T, X extends Exception> T call(Duration maxWait, Duration workLimit, Task<? super H, T, X> task)
      throws InterruptedException, X;

  /**
   * Does the work if it is free now, and skips it otherwise.
   *
   * <pre>{@code
   * boolean ran = fenceline.lock("nightly").tryRun(hold -> ledger.append(entry, hold.token()));
   * }</pre>
   *
   * @return whether the work was done
   * @throws LockLostException as {@link #run(Duration, Action)}
   */
  @CanIgnoreReturnValue
  default <X extends Exception> boolean tryRun(Action<? super H, X> action) throws X {
    return this.<Boolean, X>tryCall(Objects.requireNonNull(action, "action").asTask()).isPresent();
  }

  /** As {@link #tryRun(Action)}, waiting up to {@code maxWait} before it skips the work. */
  @CanIgnoreReturnValue
  default <X extends Exception> boolean tryRun(Duration maxWait, Action<? super H, X> action)
      throws InterruptedException, X {
    return this.<Boolean, X>tryCall(maxWait, Objects.requireNonNull(action, "action").asTask())
        .isPresent();
  }

  /**
   * As {@link #tryRun(Action)}, for work that gives a result, which must not be null: empty means
   * that the work was skipped.
   */
  <T, X extends Exception> Optional<T> tryCall(Task<? super H, T, X> task) throws X;

  /** As {@link #tryCall(Task)}, waiting up to {@code maxWait} before it skips the work. */
  <T, X extends Exception> Optional<T> tryCall(Duration maxWait, Task<? super H, T, X> task)
      throws InterruptedException, X;

  /**
   * Acquires, starts the work, and releases when its stage completes.
   *
   * <p>The future fails with {@link LockLostException} if it was lost meanwhile. Completing the
   * future abandons the wait; work that has been started goes on, and releases when it is done.
   */
  @CheckReturnValue
  <T> CompletableFuture<T> callAsync(
      Duration maxWait, Function<? super H, ? extends CompletionStage<T>> task);

  /**
   * Work that is done under a lock.
   *
   * @param <H> what is held
   * @param <X> what it may throw
   */
  @FunctionalInterface
  interface Action<H extends Held, X extends Exception> {

    /** Does the work. */
    void run(H held) throws X;

    /** Returns this work as a task that gives true. */
    default Task<H, Boolean, X> asTask() {
      return held -> {
        run(held);
        return true;
      };
    }
  }

  /**
   * Work that is done under a lock and gives a result.
   *
   * @param <H> what is held
   * @param <T> the result
   * @param <X> what it may throw
   */
  @FunctionalInterface
  interface Task<H extends Held, T, X extends Exception> {

    /** Does the work. */
    T call(H held) throws X;
  }
}
