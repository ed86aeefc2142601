package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Numbers and tokens, for ever the same: clients of two versions compare them. */
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

  @Test
  void token_hasTheNumberAbove_andTheHandOffBelow() {
    long number = GrantNumbers.atMillis(NOON);
    assertThat(GrantNumbers.token(number, 0)).isEqualTo(number * 256);
    assertThat(GrantNumbers.token(number, GrantNumbers.MOST_HAND_OFFS))
        .isLessThan(GrantNumbers.token(number + 1, 0));
    assertThat(GrantNumbers.ofToken(GrantNumbers.token(number, GrantNumbers.MOST_HAND_OFFS)))
        .isEqualTo(number);
  }

  @Test
  void largestToken_isComparedExactly_byLuaAndJavaScript() {
    assertThat(GrantNumbers.token(GrantNumbers.MAX, GrantNumbers.MOST_HAND_OFFS))
        .isEqualTo((1L << 53) - 1);
  }
}
