package io.fenceline.spi;

/**
 * Makes tokens: {@code grant number << 8 | hand-off number}.
 *
 * <p>With grant numbers of up to {@link GrantNumbers#MAX}, a token stays below 2^53, so that Lua,
 * JavaScript and JSON compare it exactly.
 */
public final class TokenFormat {
  /** How many low bits of a token are the hand-off number. */
  private static final int HAND_OFF_BITS = 8;

  /** The largest hand-off number. */
  public static final int MOST_HAND_OFFS = (1 << HAND_OFF_BITS) - 1;

  private TokenFormat() {}

  /** Returns the token of a hand-off, or of the grant itself if that is 0. */
  public static long of(long grantNumber, int handOff) {
    return grantNumber << HAND_OFF_BITS | handOff;
  }

  /** Returns the grant number of a token. */
  public static long grantNumber(long token) {
    return token >> HAND_OFF_BITS;
  }
}
