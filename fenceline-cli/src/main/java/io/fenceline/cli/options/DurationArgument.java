package io.fenceline.cli.options;

import java.time.Duration;
import picocli.CommandLine;

/** Lets options be durations; what is not one is explained. */
public final class DurationArgument implements CommandLine.ITypeConverter<Duration> {
  @Override
  public Duration convert(String text) {
    return DurationText.parse(text)
        .orElseThrow(
            () ->
                new CommandLine.TypeConversionException(
                    "'" + text + "' is not a duration; write 10s, 1.5m, 250ms, or plain seconds"));
  }
}
