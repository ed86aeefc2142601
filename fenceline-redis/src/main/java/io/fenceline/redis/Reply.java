package io.fenceline.redis;

import io.lettuce.core.api.StatefulConnection;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An answer that is waited for, until a moment and not longer. */
final class Reply<T> extends CompletableFuture<T> {
  final long deadlineNanos;
  private final String what;
  private volatile @Nullable StatefulConnection<?, ?> sentOn;

  Reply(String what, long deadlineNanos) {
    this.what = what;
    this.deadlineNanos = deadlineNanos;
  }

  /** Remembers the connection that owes the answer. */
  void sentOn(StatefulConnection<?, ?> connection) {
    sentOn = connection;
  }

  /**
   * Gives up. Answers come in order, so the connection that owes this one has been silent for the
   * whole time: it is closed, and whoever uses it gets a new one.
   */
  void expire() {
    StatefulConnection<?, ?> silent = sentOn;
    NoAnswerException failure =
        silent == null
            ? NoAnswerException.unsent(what + ": there was no connection in time")
            : NoAnswerException.afterSending(what + ": no answer came in time");
    if (completeExceptionally(failure) && silent != null) {
      silent.closeAsync();
    }
  }
}
