package io.fenceline.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Where sessions come from. Thread-safe; all methods block, no longer than an operation may. */
interface Connections extends AutoCloseable {

  /** What a session is used for: each kind never waits for another one. */
  enum Purpose {
    /** Claims, releases and whatever else callers wait for. */
    WORK,
    /** Renewals. */
    RENEWAL,
    /** Looking whether a name has become free. */
    LOOK
  }

  /** Something done with a session. */
  @FunctionalInterface
  interface Work<T extends @Nullable Object> {
    T on(Session session) throws SQLException;
  }

  /** Does something with a session, in which each statement commits by itself. */
  <T extends @Nullable Object> T use(Purpose purpose, Work<T> work) throws SQLException;

  /**
   * A number that changes whenever someone else has written, if that can be told more cheaply than
   * by reading what was written; -1 if it can't.
   */
  default long changes() throws SQLException {
    return -1;
  }

  @Override
  void close();
}
