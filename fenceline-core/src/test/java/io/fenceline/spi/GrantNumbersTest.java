package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Numbers, for ever the same: clients of two versions compare them. */
class GrantNumbersTest {
  private static final long NOON = 1_800_000_000_000L;

  @Test
  void numbersCountSixteenthsOfAMillisecond_since2025() {
    assertThat(GrantNumbers.atMillis(GrantNumbers.EPOCH_MILLIS + 1)).isEqualTo(16);
    assertThat(GrantNumbers.atMillis(NOON)).isEqualTo(1_028_966_400_000L);
    assertThat(GrantNumbers.atMillis(0)).as("a clock before 2025").isEqualTo(1);
  }

  @Test
  void nextNumber_isAboveTheLast_howeverFarTheClockIsBehind() {
    assertThat(GrantNumbers.next(5, NOON)).isEqualTo(GrantNumbers.atMillis(NOON));
    long ahead = GrantNumbers.atMillis(NOON) + 1_000;
    assertThat(GrantNumbers.next(ahead, NOON)).isEqualTo(ahead + 1);
  }
}
