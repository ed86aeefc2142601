package io.fenceline.settings;

import java.time.Duration;

/**
 * How far a released lock may pass from thread to thread of this process, without a round trip,
 * before other processes get their turn.
 *
 * @param times at most this often after a grant; 0 switches it off, 255 is the most that a token
 *     has room for
 * @param within and no later than this after it
 */
public record HandOff(int times, Duration within) {
  private static final int MOST = 255;

  /**
   * Within 10 milliseconds, as often as a token can tell: it is the time that other processes wait
   * for, not the count.
   */
  public static final HandOff DEFAULTS = new HandOff(MOST, Duration.ofMillis(10));

  /** Every release goes to the store. */
  public static final HandOff NONE = new HandOff(0, Duration.ZERO);

  /** Checks the figures. */
  public HandOff {
    if (times < 0 || times > MOST) {
      throw new InvalidSettingException("hand-off times", times, "it must be from 0 to " + MOST);
    }
    Durations.checkNotNegative("hand-off within", within);
  }
}
