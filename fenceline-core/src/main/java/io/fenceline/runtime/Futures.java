package io.fenceline.runtime;

import io.fenceline.spi.Causes;
import io.fenceline.time.Time;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Waits for futures on the time that was handed in, and unwraps their failures. */
final class Futures {
  /** No limit: what is waited for here has a timeout of its own. */
  private static final long ENDLESS = Long.MAX_VALUE;

  private Futures() {}

  /** Waits for a future that completes in time by itself; keeps an interrupt for later. */
  static <T> T await(Time time, CompletableFuture<T> future) {
    boolean interrupted = false;
    wakeWhenDone(future);
    while (!future.isDone()) {
      time.park(future, ENDLESS);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return result(future);
  }

  /** Waits for a future; an interrupt cancels it. */
  static <T> T awaitInterruptibly(Time time, CompletableFuture<T> future)
      throws InterruptedException {
    wakeWhenDone(future);
    while (!future.isDone()) {
      if (Thread.interrupted()) {
        if (future.cancel(false)) {
          throw new InterruptedException();
        }
        Thread.currentThread().interrupt(); // It was complete: the caller gets both.
        break;
      }
      time.park(future, ENDLESS);
    }
    return result(future);
  }

  private static void wakeWhenDone(CompletableFuture<?> future) {
    if (!future.isDone()) {
      Thread waiting = Thread.currentThread();
      future.whenComplete((value, failure) -> LockSupport.unpark(waiting));
    }
  }

  private static <T> T result(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      throw thrown(e);
    }
  }

  /** Completes a future as another one was completed. */
  static <T> void copy(@Nullable T value, @Nullable Throwable failure, CompletableFuture<T> to) {
    if (failure != null) {
      to.completeExceptionally(cause(failure));
    } else {
      to.complete(value);
    }
  }

  /** Returns what a stage failed with, without the wrapping. */
  static Throwable cause(Throwable failure) {
    return Causes.unwrap(failure);
  }

  /** As {@link #cause}, as something that can be thrown; an Error is thrown here. */
  private static RuntimeException thrown(Throwable failure) {
    Throwable cause = cause(failure);
    if (cause instanceof Error error) {
      throw error;
    }
    return unwrapped(cause);
  }

  /** As {@link #cause}, as a runtime exception. */
  static RuntimeException unwrapped(Throwable failure) {
    Throwable cause = cause(failure);
    return cause instanceof RuntimeException other ? other : new CompletionException(cause);
  }
}
