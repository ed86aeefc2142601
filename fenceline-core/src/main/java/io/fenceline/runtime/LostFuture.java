package io.fenceline.runtime;

import io.fenceline.Held;
import io.fenceline.event.Lost;
import java.util.concurrent.CompletableFuture;

/** The future of a loss; keeps what is held reachable for as long as someone waits for it. */
final class LostFuture extends CompletableFuture<Lost> {
  @SuppressWarnings({"unused", "FieldCanBeLocal"})
  private final Held of;

  LostFuture(Held of) {
    this.of = of;
  }
}
