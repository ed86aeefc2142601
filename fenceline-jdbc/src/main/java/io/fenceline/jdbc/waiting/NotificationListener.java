package io.fenceline.jdbc.waiting;

import org.jspecify.annotations.Nullable;

/** Hears, beside the database's tables, whose turn has come. What is heard is a hint. */
public interface NotificationListener extends AutoCloseable {
  /** Starts to listen, if it has not started yet; does not block. */
  void start();

  /** Whether messages come, as far as can be told. */
  boolean isHearing();

  /** What a claim that is about to join a queue has to know; null if no message can be lost. */
  default @Nullable ArmedBell watch() {
    return null;
  }

  /** Whether a message for a claim that joined a queue with this can't have been lost. */
  default boolean covers(ArmedBell watch) {
    return false;
  }

  /** A look has found what a message should have told. */
  default void doubt() {}

  @Override
  void close();
}
