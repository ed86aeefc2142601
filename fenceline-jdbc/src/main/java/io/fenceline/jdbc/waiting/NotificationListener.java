package io.fenceline.jdbc.waiting;

/** Hears, beside the database's tables, whose turn has come. What is heard is a hint. */
public interface NotificationListener extends AutoCloseable {
  /** Starts to listen, if it has not started yet; does not block. */
  void start();

  /** Whether messages come, as far as can be told. */
  boolean isHearing();

  @Override
  void close();
}
