package io.fenceline.redis.connection;

import io.fenceline.spi.AnswerTimeouts;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;

/**
 * Makes sure that every answer that is waited for comes, or fails, within the operation timeout.
 */
public final class ReplyTimeouts {
  private final Time time;
  private final AnswerTimeouts patience;

  /** How long a request has; a little less if there is no connection, to say why in time. */
  final long unsentNanos;

  public ReplyTimeouts(Time time, long timeoutNanos) {
    this.time = time;
    this.unsentNanos = timeoutNanos - timeoutNanos / 4;
    this.patience = new AnswerTimeouts(time, timeoutNanos);
  }

  /** A reply that fails when its time is over. */
  public <T> Reply<T> expect(Object what, String server) {
    Reply<T> reply = new Reply<>(what, server);
    // Giving up a connection is more than the thread of the timers should do.
    patience.watch(reply, () -> time.lane(Lane.WORK).execute(reply::expire));
    return reply;
  }
}
