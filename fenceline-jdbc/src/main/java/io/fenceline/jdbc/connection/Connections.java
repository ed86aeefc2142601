package io.fenceline.jdbc.connection;

import io.fenceline.jdbc.sql.SqlConnection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Where sessions come from. Thread-safe; all methods block, no longer than an operation may. */
public interface Connections extends AutoCloseable {

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
    T on(SqlConnection db) throws SQLException;
  }

  /** Does something with a session, in which each statement commits by itself. */
  <T extends @Nullable Object> T use(Purpose purpose, Work<T> work) throws SQLException;

  /**
   * As {@link #use} for {@link Purpose#WORK}, if nobody has to be waited for.
   *
   * @return null if somebody has to be, and always where a request goes over a network
   */
  default <T extends @Nullable Object> @Nullable Done<T> useNow(Work<T> work) throws SQLException {
    return null;
  }

  /** What something that was done has given. */
  record Done<T extends @Nullable Object>(T result) {}

  /**
   * How many requests for {@link Purpose#WORK} may be under way at once. Whoever comes next waits
   * before the pool, where the order is kept, and not in it.
   */
  int atOnce();

  /**
   * A number that changes whenever someone else has written, if that can be told more cheaply than
   * by reading what was written; -1 if it can't.
   */
  default long changes() throws SQLException {
    return -1;
  }

  /** Which sessions are for a renewal that has found its row locked, and may wait for it. */
  default Purpose forRepeatedRenewals() {
    return Purpose.WORK;
  }

  @Override
  void close();

  /**
   * How long a caller's own thread may be kept by the request that it makes; null if there is no
   * way to free it, so that other threads make its requests.
   */
  default @Nullable Duration callerTime() {
    return null;
  }

  /** How long the pool may keep a request waiting for a connection, when it is its turn. */
  default Duration borrowTime() {
    return Duration.ZERO;
  }

  /** How long a request waits for a connection of a pool that has its own idea of it; or null. */
  default @Nullable Duration patience() {
    return null;
  }
}
