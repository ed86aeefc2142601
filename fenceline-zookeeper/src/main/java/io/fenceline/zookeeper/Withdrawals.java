package io.fenceline.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Those who have withdrawn a claim while it was asked for, and wait to hear that it is gone. */
final class Withdrawals {
  private final List<CompletableFuture<Void>> waiting = new ArrayList<>(0);

  synchronized CompletableFuture<Void> add() {
    CompletableFuture<Void> done = new CompletableFuture<>();
    waiting.add(done);
    return done;
  }

  /**
   * Tells them.
   *
   * @param failure why it is not known that the claim is gone; null if it is
   */
  void end(@Nullable Throwable failure) {
    List<CompletableFuture<Void>> told;
    synchronized (this) {
      told = List.copyOf(waiting);
      waiting.clear();
    }
    for (CompletableFuture<Void> withdrawal : told) {
      if (failure == null) {
        withdrawal.complete(null);
      } else {
        withdrawal.completeExceptionally(failure);
      }
    }
  }
}
