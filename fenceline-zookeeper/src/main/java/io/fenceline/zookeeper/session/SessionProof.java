package io.fenceline.zookeeper.session;

import io.fenceline.time.Moment;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Until when a session surely lives, by what was answered on it.
 *
 * <p>Not thread-safe.
 */
final class SessionProof {
  /*
   * The leader ends a session that it has not heard of for the session's timeout. It hears of a
   * session that is connected to a follower only through that follower: the follower notes each
   * request, and tells the leader at its next ping, twice a tick. So an answer proves less than it
   * seems to:
   *
   * - An answered read or ping proves nothing. The follower may be cut off.
   * - An answered write W proves that the leader had not ended the session yet. It does not prove
   *   that the leader has noted W for the session: that comes with the ping after W.
   * - But the pings and the writes of a follower share one connection. If V was answered a tick or
   *   more before W was sent, a ping came between them, and W's answer proves that the follower has
   *   answered it. That this answer arrived is proven, too, if the ping reached the follower before W
   *   did: if what the leader sends is less than half a tick on its way.
   *
   * So after W the session lives until the sending of V plus the timeout, V being the newest write
   * that was answered a tick before W was sent. With a write every interval, V is at most one
   * interval and one tick older than W: the deadline is never sooner than W + timeout − interval −
   * tick, and where heartbeats were late it is sooner, as it must be.
   *
   * That a ping came between them is so if the leader ran: it pings each half tick. A leader that stood
   * still (a pause of its garbage collector, a stopped machine) may answer W first when it goes on, and
   * end the session right then, if it stood for the rest of the timeout. Such a pause shows: nothing is
   * answered meanwhile. So W proves V only if W was answered no later than half a timeout after V (or a
   * tick and a quarter, for sessions of a few ticks); after a longer silence V is dropped, and the next
   * write a tick later proves W. The leader last noted the session at most an interval and half a tick
   * before V, so a pause that ends it lasts for at least 5/6 of the timeout less half a tick: longer
   * than that silence, if the timeout has four ticks or more.
   *
   * What is left, and accepted: a leader whose one thread that pings stands still for most of a session's
   * timeout, while those that process requests and end sessions go on; with sessions of less than
   * four ticks, a pause of the leader of about three quarters of the timeout that its followers outwait
   * (syncLimit); and a way from the leader to the follower that takes more than half a tick, while the
   * other way is cut right after W was passed on. Each may end a session sooner than is believed here, by
   * a sixth of its timeout and a tick at most. A write that is sent after W's answer would rule out the
   * last one, and cost each lease another sixth of the timeout.
   *
   * The start of a session is a touch that the leader makes itself; so is a reconnect through another
   * server, which comes after whatever was answered before. A new leader starts all timeouts anew,
   * later than anything that the old one can have answered with a majority.
   */
  static final int DRIFT_SHARE = 100;

  private static final int PER_TICK = 8;

  /** A write that was answered. */
  private record Answered(Moment sent, long answeredNanos) {}

  private final long tickNanos;
  private final ArrayDeque<Answered> recent = new ArrayDeque<>();
  private @Nullable Moment heard;

  /**
   * Nothing was answered yet.
   *
   * @param born a moment before the session was made; null if that is not known
   */
  SessionProof(@Nullable Moment born, long tickNanos) {
    this.heard = born;
    this.tickNanos = tickNanos;
  }

  /** A write was answered. */
  void answered(Moment sent, long nowNanos, long timeoutNanos) {
    long longestSilence = Math.max(timeoutNanos / 2, tickNanos + timeoutNanos / 4);
    Answered first = recent.peekFirst();
    while (first != null && sent.nanos() - first.answeredNanos >= tickNanos) {
      if (nowNanos - first.answeredNanos <= longestSilence) {
        heard = first.sent;
      }
      recent.removeFirst();
      first = recent.peekFirst();
    }
    // Some of many are enough.
    Answered last = recent.peekLast();
    if (last == null || sent.nanos() - last.sent.nanos() >= tickNanos / PER_TICK) {
      recent.addLast(new Answered(sent, nowNanos));
    }
  }

  /** How long after now a write has to be sent at the earliest, to prove more than is proven. */
  long nanosToNextProof(long nowNanos) {
    Answered first = recent.peekFirst();
    return first == null ? 0 : Math.max(0, first.answeredNanos + tickNanos - nowNanos);
  }

  /** How long the session surely lives, by both clocks; zero or less if that is not known. */
  long remainingNanos(Moment now, long timeoutNanos) {
    Moment from = heard;
    if (from == null) {
      return 0;
    }
    long length = timeoutNanos - timeoutNanos / DRIFT_SHARE;
    long wall = (now.wallMillis() - from.wallMillis()) * 1_000_000;
    return length - Math.max(now.nanos() - from.nanos(), wall);
  }
}
