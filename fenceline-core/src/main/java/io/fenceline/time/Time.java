package io.fenceline.time;

import java.util.concurrent.Executor;

/**
 * The clocks, timers, waits and threads that the runtime and the stores use.
 *
 * <p>Nothing in the core reads a clock, sleeps or starts a thread except through this interface, so
 * that a test can let an hour pass in a microsecond, and one seed can replay a whole fleet.
 */
public interface Time {

  /** Returns the monotonic clock, in nanoseconds from an arbitrary origin. */
  long nanos();

  /** Returns the wall clock, in milliseconds since 1970. */
  long wallMillis();

  /** Returns both clocks, read together. */
  default Moment now() {
    return new Moment(nanos(), wallMillis());
  }

  /**
   * Runs a task once, after a delay on the monotonic clock.
   *
   * <p>The task runs on a thread that all timers share: it must neither block nor call a store.
   */
  Timer schedule(long delayNanos, Runnable task);

  /** Returns the threads of a lane. */
  Executor lane(Lane lane);

  /**
   * Blocks the calling thread until it is unparked or interrupted, or the time is over. It may also
   * return for no reason, so the caller checks its condition in a loop.
   *
   * @param maxNanos the time; {@code Long.MAX_VALUE} for no limit
   */
  void park(Object blocker, long maxNanos);

  /** Ends the timers and threads of this time; tasks that have not started do not run. */
  void close();

  /** A task that was scheduled. */
  interface Timer {
    /** Keeps the task from running, unless it has started. */
    void cancel();
  }
}
