package io.fenceline.spi;

/**
 * Makes grant numbers, and tokens from a grant number and a hand-off number.
 *
 * <p>A token is {@code grant number << 8 | hand-off number}. A store that has a clock, but no log
 * with numbers, uses {@code max(last + 1, clock)}.
 *
 * <p>The clock counts sixteenths of a millisecond since 2025; 45 bits last until 2094. Since all
 * such stores count alike, numbers keep rising when a counter is lost, or when a name moves from
 * one store to another, as long as the new clock is not behind the last grant. With the eight bits
 * of the hand-off number, a token stays below 2^53, so that Lua, JavaScript and JSON compare it
 * exactly.
 */
public final class GrantNumbers {
  /** 2025-01-01T00:00:00Z. */
  public static final long EPOCH_MILLIS = 1_735_689_600_000L;

  /** Numbers per millisecond: no store grants one name more often. */
  public static final int PER_MILLI = 16;

  /** The largest number of this layout. */
  public static final long MAX = (1L << 45) - 1;

  /** How many low bits of a token are the hand-off number. */
  private static final int HAND_OFF_BITS = 8;

  /** The largest hand-off number. */
  public static final int MOST_HAND_OFFS = (1 << HAND_OFF_BITS) - 1;

  private GrantNumbers() {}

  /** Returns the token of a hand-off, or of the grant itself if that is 0. */
  public static long token(long number, int handOff) {
    return number << HAND_OFF_BITS | handOff;
  }

  /** Returns the grant number of a token. */
  public static long ofToken(long token) {
    return token >> HAND_OFF_BITS;
  }

  /** Returns the number that the clock gives, at least 1. */
  public static long atMillis(long wallMillis) {
    return Math.max(1, (wallMillis - EPOCH_MILLIS) * PER_MILLI);
  }

  /** Returns the number of the next grant; may exceed {@link #MAX}, which the caller refuses. */
  public static long next(long last, long wallMillis) {
    return Math.max(last + 1, atMillis(wallMillis));
  }
}
