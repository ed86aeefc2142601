package io.fenceline.redis;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An answer that is waited for, until {@link Deadlines} loses its patience. */
final class Reply<T> extends CompletableFuture<T> {
  private final Object what;
  private final String server;
  private volatile @Nullable Runnable giveUp;

  /**
   * Not answered yet.
   *
   * @param what was asked; shown by its text, which is not made unless it is needed
   */
  Reply(Object what, String server) {
    this.what = what;
    this.server = server;
  }

  /** Whatever becomes of the one becomes of the other. */
  static <T> void pass(CompletableFuture<T> from, CompletableFuture<T> to) {
    from.whenComplete(
        (value, failure) -> {
          if (failure == null) {
            to.complete(value);
          } else {
            to.completeExceptionally(failure);
          }
        });
  }

  /**
   * It is being sent; says how to give up the connection that owes the answer.
   *
   * @return false if it must not be sent any more
   */
  synchronized boolean sent(Runnable howToGiveUp) {
    if (isDone()) {
      return false;
    }
    giveUp = howToGiveUp;
    return true;
  }

  /** Makes sure that it is not sent any more, unless it was. */
  synchronized void dropUnsent() {
    if (giveUp == null) {
      completeExceptionally(
          NoAnswerException.unsent(asked() + ": there was no connection in time"));
    }
  }

  /** Whether it was handed to a connection. */
  boolean isBeingSent() {
    return giveUp != null;
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
      completeExceptionally(
          NoAnswerException.unsent(asked() + ": there was no connection in time"));
    } else {
      silent.run();
      completeExceptionally(NoAnswerException.afterSending(asked() + ": no answer came in time"));
    }
  }

  private String asked() {
    return what + " at " + server;
  }
}
