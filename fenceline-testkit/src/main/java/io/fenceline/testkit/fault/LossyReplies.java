package io.fenceline.testkit.fault;

import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Answers to a claim that get lost, or are under way for long. */
final class LossyReplies {
  private LossyReplies() {}

  /** The first answer is lost, which the handler learns as a failure; so is all that follows. */
  static ClaimHandler losing(ClaimHandler handler, RuntimeException loss) {
    AtomicBoolean told = new AtomicBoolean();
    return through(
        answer -> {
          if (told.compareAndSet(false, true)) {
            handler.failed(loss);
          }
        },
        handler);
  }

  /** Every answer is handed to the given place, to be run when the time has come. */
  static ClaimHandler holding(ClaimHandler handler, Consumer<Runnable> place) {
    return through(place, handler);
  }

  private static ClaimHandler through(Consumer<Runnable> way, ClaimHandler handler) {
    return new ClaimHandler() {
      @Override
      public void granted(Grant grant) {
        way.accept(() -> handler.granted(grant));
      }

      @Override
      public void waiting(Obstacle obstacle) {
        way.accept(() -> handler.waiting(obstacle));
      }

      @Override
      public void refused(Obstacle obstacle) {
        way.accept(() -> handler.refused(obstacle));
      }

      @Override
      public void failed(RuntimeException cause) {
        way.accept(() -> handler.failed(cause));
      }

      @Override
      public void gone() {
        way.accept(handler::gone);
      }
    };
  }
}
