package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tokens, for ever the same: clients of two versions compare them. */
class TokenFormatTest {
  private static final long NOON = 1_800_000_000_000L;

  @Test
  void token_hasTheNumberAbove_andTheHandOffBelow() {
    long number = GrantNumbers.atMillis(NOON);
    assertThat(TokenFormat.of(number, 0)).isEqualTo(number * 256);
    assertThat(TokenFormat.of(number, TokenFormat.MOST_HAND_OFFS))
        .isLessThan(TokenFormat.of(number + 1, 0));
    assertThat(TokenFormat.grantNumber(TokenFormat.of(number, TokenFormat.MOST_HAND_OFFS)))
        .isEqualTo(number);
  }

  @Test
  void largestToken_isComparedExactly_byLuaAndJavaScript() {
    assertThat(TokenFormat.of(GrantNumbers.MAX, TokenFormat.MOST_HAND_OFFS))
        .isEqualTo((1L << 53) - 1);
  }
}
