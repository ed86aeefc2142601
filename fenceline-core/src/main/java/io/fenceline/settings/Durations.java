package io.fenceline.settings;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks, parses and formats durations, with the same rules for every setting and message. */
public final class Durations {
  /** The longest duration of any setting; keeps sums of nanoseconds from overflowing. */
  public static final Duration LONGEST = Duration.ofDays(3650);

  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final Pattern WRITTEN =
      Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)(ms|s|m|h)");

  private Durations() {}

  /** Returns a duration that is zero, or one millisecond or more. */
  public static Duration checkNotNegative(String setting, Duration value) {
    Objects.requireNonNull(value, setting);
    if (value.isNegative()) {
      throw new InvalidSettingException(setting, value, "it must not be negative");
    }
    if (value.compareTo(LONGEST) > 0) {
      throw new InvalidSettingException(setting, value, "it must be at most " + show(LONGEST));
    }
    return value;
  }

  /** Returns a duration of one millisecond or more. */
  public static Duration checkPositive(String setting, Duration value) {
    checkNotNegative(setting, value);
    if (value.toNanos() < NANOS_PER_MILLI) {
      throw new InvalidSettingException(setting, value, "it must be at least 1ms");
    }
    return value;
  }

  /**
   * Parses a number with its unit: {@code 250ms}, {@code 1.5s}, {@code 2m}, {@code 36h}.
   *
   * @throws InvalidSettingException if the text is not of this form
   */
  public static Duration parse(String setting, String text) {
    Matcher shape = WRITTEN.matcher(text);
    if (!shape.matches()) {
      throw new InvalidSettingException(
          setting, text, "write a number and its unit, such as 250ms, 30s, 2m or 36h");
    }
    long millis =
        switch (shape.group(2)) {
          case "ms" -> 1;
          case "s" -> 1_000;
          case "m" -> 60_000;
          default -> 3_600_000;
        };
    return Duration.ofNanos((long) (Double.parseDouble(shape.group(1)) * millis * NANOS_PER_MILLI));
  }

  /*
   * Duration.dividedBy and multipliedBy compute in BigDecimal, whose initialiser is a tenth of what a
   * short program that takes one lock costs (Java 25).
   */

  /** Returns a part of a duration that is no longer than {@link #LONGEST}. */
  public static Duration part(Duration whole, long divisor) {
    return Duration.ofNanos(whole.toNanos() / divisor);
  }

  /** Returns a multiple, at most the longest duration that a long can count in nanoseconds. */
  public static Duration times(Duration one, long factor) {
    long nanos = one.toNanos();
    return Duration.ofNanos(nanos > Long.MAX_VALUE / factor ? Long.MAX_VALUE : nanos * factor);
  }

  /** Formats a duration with {@link #show}, and any other value with {@code toString}. */
  public static String showAny(Object value) {
    return value instanceof Duration duration ? show(duration) : String.valueOf(value);
  }

  /** Formats a duration: 250ms, 5.003s, 30s, 2m 30s, 36h. */
  public static String show(Duration value) {
    if (value.isNegative()) {
      // The smallest duration has no positive counterpart; one second less looks the same.
      Duration positive =
          value.toSeconds() == Long.MIN_VALUE
              ? Duration.ofSeconds(Long.MAX_VALUE)
              : value.negated();
      return "-" + show(positive);
    }
    if (value.compareTo(LONGEST) > 0) {
      return value.toHours() + "h"; // More milliseconds than a long may hold.
    }
    long millis = value.toMillis();
    if (millis == 0 && !value.isZero()) {
      return value.toNanos() / 1_000 + "us";
    }
    if (millis < 1_000) {
      return millis + "ms";
    }
    if (millis < 120_000) {
      String seconds = String.format(Locale.ROOT, "%.3f", millis / 1_000.0);
      return seconds.replaceAll("\\.?0+$", "") + "s";
    }
    if (millis < 7_200_000) {
      long seconds = millis / 1_000 % 60;
      return millis / 60_000 + "m" + (seconds == 0 ? "" : " " + seconds + "s");
    }
    return millis / 3_600_000 + "h";
  }
}
