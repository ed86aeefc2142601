package io.fenceline.cli;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;

/** A duration as people type it: {@code 10s}, {@code 1.5m}, {@code 250ms}, or plain seconds. */
final class DurationArgument implements CommandLine.ITypeConverter<Duration> {
  private static final Pattern SHAPE =
      Pattern.compile("(?<number>[0-9]{1,9}(\\.[0-9]{1,9})?|\\.[0-9]{1,9})(?<unit>ms|s|m|h|d)?");

  @Override
  public Duration convert(String text) {
    return parse(text);
  }

  static Duration parse(String text) {
    Matcher shape = SHAPE.matcher(text);
    if (!shape.matches()) {
      throw new CommandLine.TypeConversionException(
          "'" + text + "' is not a duration; write 10s, 1.5m, 250ms, or plain seconds");
    }
    String unit = shape.group("unit");
    BigDecimal nanos =
        new BigDecimal(shape.group("number")).multiply(BigDecimal.valueOf(nanosPer(unit)));
    return Duration.ofSeconds(
        nanos.longValue() / 1_000_000_000L, nanos.longValue() % 1_000_000_000L);
  }

  private static long nanosPer(@org.jspecify.annotations.Nullable String unit) {
    return switch (unit == null ? "s" : unit) {
      case "ms" -> 1_000_000L;
      case "m" -> 60_000_000_000L;
      case "h" -> 3_600_000_000_000L;
      case "d" -> 86_400_000_000_000L;
      default -> 1_000_000_000L;
    };
  }
}
