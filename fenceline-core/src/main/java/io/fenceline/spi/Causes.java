package io.fenceline.spi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Unwraps the failures of futures. */
public final class Causes {
  private Causes() {}

  /** Returns a failure without the {@link CompletionException}s that futures wrap it in. */
  public static Throwable unwrap(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /**
   * Waits for a future, and returns its value.
   *
   * @throws RuntimeException the failure of the future, unwrapped
   */
  public static <T> T join(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      throw unwrap(e) instanceof RuntimeException cause ? cause : e;
    }
  }
}
