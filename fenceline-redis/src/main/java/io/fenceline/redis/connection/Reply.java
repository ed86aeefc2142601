package io.fenceline.redis.connection;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An answer that is waited for, until {@link ReplyTimeouts} loses its patience. */
public final class Reply<T> extends CompletableFuture<T> {
  private final Object what;
  private final String server;
  private volatile @Nullable Runnable giveUp;
  private volatile @Nullable Runnable beforeGivingUp;
  private volatile @Nullable String hindrance;

  /** It must not be sent any more. Guarded by this. */
  private boolean over;

  /** Nobody wants its answer any more. Guarded by this. */
  private boolean stopped;

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
  public static <T> void pass(CompletableFuture<T> from, CompletableFuture<T> to) {
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
  boolean sent(Runnable howToGiveUp) {
    synchronized (this) {
      if (!over && !isDone()) {
        giveUp = howToGiveUp;
        return true;
      }
      if (!stopped) {
        return false; // Whoever has ended it says so.
      }
    }
    // It is sent once more only if a server has answered that it did nothing.
    completeExceptionally(NoAnswerException.unsent(asked() + ": it is not wanted any more"));
    return false;
  }

  /** Makes sure that it is not sent any more, unless it was. */
  public void dropUnsent() {
    synchronized (this) {
      if (giveUp != null) {
        return;
      }
      over = true;
    }
    String why = hindrance;
    completeExceptionally(
        NoAnswerException.unsent(
            why == null
                ? asked() + ": there was no connection in time"
                : "there was no connection in time: " + why));
  }

  /** Says why it could not be sent so far. */
  void hinderedBy(String why) {
    hindrance = why;
  }

  /** As {@link #dropUnsent}, if it is known why there was no connection. */
  void dropHindered() {
    if (hindrance != null) {
      dropUnsent();
    }
  }

  /** As {@link #dropUnsent}; what was sent already is not sent once more, in another way. */
  public void stop() {
    synchronized (this) {
      over = true;
      stopped = true;
    }
    dropUnsent();
  }

  /**
   * Is told before a connection that owes this answer is given up: over the next one, a later
   * request can overtake this one.
   */
  public void beforeGivingUp(Runnable listener) {
    beforeGivingUp = listener;
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
    Runnable silent;
    synchronized (this) {
      if (isDone()) {
        return;
      }
      over = true; // From here on it is known whether it was sent.
      silent = giveUp;
    }
    if (silent == null) {
      dropUnsent();
    } else {
      Runnable listener = beforeGivingUp;
      if (listener != null) {
        listener.run();
      }
      silent.run();
      completeExceptionally(NoAnswerException.afterSending(asked() + ": no answer came in time"));
    }
  }

  private String asked() {
    return what + " at " + server;
  }
}
