package io.fenceline.settings;

import java.time.Duration;

/**
 * How often, and for how long, a released lock may be handed from thread to thread of this process
 * without a round trip, before other processes get their turn.
 *
 * @param times the maximum number of hand-offs after a grant; 0 disables them, 255 is the most that
 *     a token has room for
 * @param within how long after the grant hand-offs are allowed
 */
public record HandOff(int times, Duration within) {
  private static final int MOST = 255;

  /**
   * As many hand-offs as a token has room for, within 10 milliseconds: the time bounds how long
   * other processes wait, not the count.
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
