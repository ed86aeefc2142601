package io.fenceline.spi;

import java.util.concurrent.CompletionException;

/** What a future failed with, for stores. */
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
}
