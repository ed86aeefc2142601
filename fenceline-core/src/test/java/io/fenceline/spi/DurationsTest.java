package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.settings.Durations;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Durations in messages read as people write them, however long they are. */
class DurationsTest {

  @Test
  void durations_areShownAsPeopleWriteThem() {
    assertThat(Durations.show(Duration.ZERO)).isEqualTo("0ms");
    assertThat(Durations.show(Duration.ofNanos(1_500))).isEqualTo("1us");
    assertThat(Durations.show(Duration.ofMillis(250))).isEqualTo("250ms");
    assertThat(Durations.show(Duration.ofMillis(5_003))).isEqualTo("5.003s");
    assertThat(Durations.show(Duration.ofSeconds(30))).isEqualTo("30s");
    assertThat(Durations.show(Duration.ofSeconds(150))).isEqualTo("2m 30s");
    assertThat(Durations.show(Duration.ofHours(36))).isEqualTo("36h");
    assertThat(Durations.show(Duration.ofMillis(-250))).isEqualTo("-250ms");
    assertThat(Durations.show(Duration.ofSeconds(-30))).isEqualTo("-30s");
  }

  @Test
  void durationsThatDoNotFitIntoALong_areShownTooLongOrTooShort() {
    assertThat(Durations.show(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo("2562047788015215h");
    assertThat(Durations.show(Duration.ofSeconds(Long.MIN_VALUE))).isEqualTo("-2562047788015215h");
  }

  @Test
  void partsAndMultiples_areThoseOfDuration_andNeverOverflow() {
    Duration odd = Duration.ofSeconds(7, 123_456_789);
    assertThat(Durations.part(odd, 3)).isEqualTo(odd.dividedBy(3));
    assertThat(Durations.times(odd, 3)).isEqualTo(odd.multipliedBy(3));
    assertThat(Durations.times(Durations.LONGEST, 10))
        .isEqualTo(Durations.LONGEST.multipliedBy(10));
    assertThat(Durations.times(Durations.LONGEST, 100))
        .isEqualTo(Duration.ofNanos(Long.MAX_VALUE))
        .isGreaterThan(Durations.LONGEST);
  }
}
