package io.fenceline.spi;

/**
 * Makes grant numbers where a store has a clock, but no log with numbers: {@code max(last + 1,
 * clock)}. What a token is made of beside them is in {@link TokenFormat}.
 *
 * <p>The clock counts sixteenths of a millisecond since 2025; 45 bits last until 2094. Since all
 * such stores count alike, numbers keep rising when a counter is lost, or when a name moves from
 * one store to another, as long as the new clock is not behind the last grant.
 */
public final class GrantNumbers {
  /** 2025-01-01T00:00:00Z. */
  public static final long EPOCH_MILLIS = 1_735_689_600_000L;

  /** Numbers per millisecond: no store grants one name more often. */
  public static final int PER_MILLI = 16;

  /** The largest number of this layout. */
  public static final long MAX = (1L << 45) - 1;

  private GrantNumbers() {}

  /** Returns the number that the clock gives, at least 1. */
  public static long atMillis(long wallMillis) {
    return Math.max(1, (wallMillis - EPOCH_MILLIS) * PER_MILLI);
  }

  /** Returns the number of the next grant; may exceed {@link #MAX}, which the caller refuses. */
  public static long next(long last, long wallMillis) {
    return Math.max(last + 1, atMillis(wallMillis));
  }
}
