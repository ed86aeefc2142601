package io.fenceline.testkit.sim;

import org.jspecify.annotations.Nullable;

/** One thing that a script says will happen; durations are in milliseconds. */
sealed interface Act {

  /** In which way a name is taken. */
  enum How {
    EXCLUSIVE,
    SHARED,
    PERMIT,
    TWO_PERMITS,
    WRONG_FAMILY,
    ALL
  }

  /** By which call. */
  enum Call {
    ACQUIRE,
    TRY,
    CALL_ASYNC,
    /** Acquired without blocking, and closed, with blocking, in the callback. */
    CLOSE_IN_CALLBACK,
    BLOCKING
  }

  /**
   * Someone takes a lock, works under it, and gives it back.
   *
   * @param maxWait how long to wait at most
   * @param hold how long to work
   * @param cancel when to give up waiting, or negative
   * @param reenter when to enter again, or negative
   * @param extend when to extend a fixed lease, or negative
   * @param extendTo to what
   * @param extendAgain to what at the same time once more, or negative
   */
  record Take(
      String name,
      How how,
      Call call,
      Shape shape,
      int maxWait,
      int hold,
      int cancel,
      int reenter,
      int extend,
      int extendTo,
      int extendAgain)
      implements Act {}

  /** Someone releases by force whatever holds a name. */
  record Force(String name) implements Act {}

  /** Someone lists all names. */
  record ListAll() implements Act {}

  /** Whoever waits in a blocking call is interrupted. */
  record Interrupt() implements Act {}

  /** The client is closed; the process opens another one. */
  record Close(int reopenAfter) implements Act {}

  /** The process dies; another one takes its place. */
  record Die(int restartAfter) implements Act {}

  /** The process stands still. */
  record Pause(int millis) implements Act {}

  /** The machine sleeps, its monotonic clock with it. */
  record Suspend(int millis) implements Act {}

  /** The client's wall clock is set. */
  record WallJump(int millis) implements Act {}

  /** The network has a trouble for a while; share in thousandths, or milliseconds of slowness. */
  record Trouble(
      Network.Trouble trouble, boolean everyone, Network.@Nullable Wire wire, int millis, int share)
      implements Act {}

  /** The server stands still. */
  record ServerPause(int millis) implements Act {}

  /** The server is down for a while, and forgets nothing. */
  record ServerRestart(int millis) implements Act {}

  /** The server is down for a while, and has forgotten the last of what it did before. */
  record FailOver(int millis, int forgotten) implements Act {}

  /** The server's clock is set. */
  record ClockJump(int millis) implements Act {}
}
