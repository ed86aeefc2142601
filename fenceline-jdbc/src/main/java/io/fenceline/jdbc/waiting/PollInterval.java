package io.fenceline.jdbc.waiting;

import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import java.time.Duration;

/**
 * How often those who wait look whether their turn has come.
 *
 * @param shortest after something has happened
 * @param longest after nothing has happened for a while; twice as long as before each time
 */
public record PollInterval(Duration shortest, Duration longest) {
  public PollInterval {
    Durations.checkPositive("shortest poll", shortest);
    Durations.checkPositive("longest poll", longest);
    if (shortest.compareTo(longest) > 0) {
      throw new InvalidSettingException(
          "shortest poll", shortest, "it must not exceed the longest, " + Durations.show(longest));
    }
  }

  public static PollInterval millis(int shortest, int longest) {
    return new PollInterval(Duration.ofMillis(shortest), Duration.ofMillis(longest));
  }
}
