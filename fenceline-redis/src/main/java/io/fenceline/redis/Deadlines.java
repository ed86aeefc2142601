package io.fenceline.redis;

import io.fenceline.spi.Lane;
import io.fenceline.spi.Patience;
import io.fenceline.spi.Time;

/**
 * Makes sure that every answer that is waited for comes, or fails, within the operation timeout.
 */
final class Deadlines {
  private final Time time;
  private final Patience patience;

  Deadlines(Time time, long timeoutNanos) {
    this.time = time;
    this.patience = new Patience(time, timeoutNanos);
  }

  /** A reply that fails when its time is over. */
  <T> Reply<T> expect(Object what, String server) {
    Reply<T> reply = new Reply<>(what, server);
    // Giving up a connection is more than the thread of the timers should do.
    patience.watch(reply, () -> time.lane(Lane.WORK).execute(reply::expire));
    return reply;
  }
}
