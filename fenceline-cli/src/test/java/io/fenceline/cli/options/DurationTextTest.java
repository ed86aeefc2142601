package io.fenceline.cli.options;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {

  @ParameterizedTest
  @CsvSource({
    "0,0",
    "0.5,500",
    ".5,500",
    "10,10000",
    "10s,10000",
    "250ms,250",
    "1.5m,90000",
    "2h,7200000",
    "1d,86400000"
  })
  void readsWhatPeopleType(String text, long millis) {
    assertThat(DurationText.parse(text)).contains(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "-1", "1.", ".", "1..2", "1.2.3", "s", "1 s", "1w", "1S", "\u0661", "1e3", "+1"
      })
  void refusesTheRest(String text) {
    assertThat(DurationText.parse(text)).isEmpty();
  }

  @Test
  void keepsNanoseconds_andRefusesWhatDoesNotFit() {
    assertThat(DurationText.parse("0.000000001")).contains(Duration.ofNanos(1));
    assertThat(DurationText.parse("999999999999999999d")).isEmpty();
  }
}
