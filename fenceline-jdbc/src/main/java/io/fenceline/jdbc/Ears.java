package io.fenceline.jdbc;

/** Hears, beside the database's tables, whose turn has come. What is heard is a hint. */
interface Ears extends AutoCloseable {
  /** Starts to listen, if it has not started yet; does not block. */
  void start();

  /** Whether messages come, as far as can be told. */
  boolean isHearing();

  @Override
  void close();
}
