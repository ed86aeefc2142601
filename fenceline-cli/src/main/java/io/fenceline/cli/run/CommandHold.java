package io.fenceline.cli.run;

import io.fenceline.Held;
import io.fenceline.event.Lost;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** What a command runs under: something that is held for a while, and can be lost. */
public interface CommandHold {

  /** How long it runs if it is not renewed; zero when it is over. */
  Duration remaining();

  /** Completes when it is lost; the value is null where the reason is not known. */
  CompletableFuture<? extends Lost> lost();

  /** That of a lock. */
  static CommandHold of(Held held) {
    return new CommandHold() {
      @Override
      public Duration remaining() {
        return held.remaining();
      }

      @Override
      public CompletableFuture<? extends Lost> lost() {
        return held.lost();
      }
    };
  }
}
