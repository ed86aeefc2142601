package io.fenceline.redis;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An answer that is waited for, until a moment and not longer. */
final class Reply<T> extends CompletableFuture<T> {
  final long deadlineNanos;
  private final String what;
  private volatile @Nullable Runnable giveUp;

  Reply(String what, long deadlineNanos) {
    this.what = what;
    this.deadlineNanos = deadlineNanos;
  }

  /** It was sent; says how to give up the connection that owes the answer. */
  void sent(Runnable howToGiveUp) {
    giveUp = howToGiveUp;
  }

  /**
   * Gives up. Answers come in order, so the connection that owes this one has been silent for the
   * whole time. It is given up first, so that whoever hears of the failure does not use it again.
   */
  void expire() {
    Runnable silent = giveUp;
    if (isDone()) {
      return;
    }
    if (silent == null) {
      completeExceptionally(NoAnswerException.unsent(what + ": there was no connection in time"));
    } else {
      silent.run();
      completeExceptionally(NoAnswerException.afterSending(what + ": no answer came in time"));
    }
  }
}
