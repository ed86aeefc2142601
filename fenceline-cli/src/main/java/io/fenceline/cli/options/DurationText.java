package io.fenceline.cli.options;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;

/** A duration as people type it: {@code 10s}, {@code 1.5m}, {@code 250ms}, or plain seconds. */
public final class DurationText {
  private static final int MOST_DIGITS = 18;

  private DurationText() {}

  /** Empty if the text is not one; there are no negative ones. */
  public static Optional<Duration> parse(String text) {
    int end = 0;
    while (end < text.length() && (isDigit(text.charAt(end)) || text.charAt(end) == '.')) {
      end++;
    }
    String number = text.substring(0, end);
    long unit = nanosPer(text.substring(end));
    boolean isNumber =
        !number.isEmpty()
            && number.length() <= MOST_DIGITS
            && isDigit(number.charAt(end - 1))
            && number.indexOf('.') == number.lastIndexOf('.');
    if (!isNumber || unit == 0) {
      return Optional.empty();
    }
    BigDecimal seconds = new BigDecimal(number).multiply(BigDecimal.valueOf(unit)).movePointLeft(9);
    if (seconds.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) >= 0) {
      return Optional.empty();
    }
    long whole = seconds.longValue();
    BigDecimal rest = seconds.subtract(BigDecimal.valueOf(whole));
    return Optional.of(Duration.ofSeconds(whole, rest.movePointRight(9).longValue()));
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static long nanosPer(String unit) {
    return switch (unit) {
      case "ms" -> 1_000_000L;
      case "", "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      case "h" -> 3_600_000_000_000L;
      case "d" -> 86_400_000_000_000L;
      default -> 0;
    };
  }
}
