package io.fenceline.redis;

import io.fenceline.FencelineException;
import io.fenceline.StoreUnavailableException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** What the driver throws, in the terms of the SPI. */
final class Failures {
  private Failures() {}

  /** The failure itself, without what futures have wrapped around it; null for none. */
  static @Nullable Throwable unwrapped(@Nullable Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /**
   * The exception that the runtime understands. An error that Redis answers with is an unknown
   * outcome too: a script that fails half-way is not rolled back.
   */
  static RuntimeException meaning(String store, String what, @Nullable Throwable failure) {
    Throwable cause = unwrapped(failure);
    if (cause instanceof FencelineException own) {
      return own;
    }
    String why = cause == null ? "" : ": " + cause.getMessage();
    return new StoreUnavailableException(store, what + " failed" + why, cause);
  }
}
