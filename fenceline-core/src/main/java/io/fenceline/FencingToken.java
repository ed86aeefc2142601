package io.fenceline;

import io.fenceline.settings.InvalidSettingException;

/**
 * A token that a fence can judge: its number, and whether it came with an exclusive or a shared
 * hold.
 *
 * <p>Of two exclusive holds of one name, the later one has the larger token. A resource that
 * remembers the largest token it has seen can therefore refuse a writer that was overtaken. Permits
 * of a semaphore have tokens too, but several are valid at once, so no order can fence them: they
 * are plain numbers and never of this type.
 *
 * @param value positive; {@code grant number << 8 | hand-off number}
 * @param exclusive whether the hold was exclusive
 */
public record FencingToken(long value, boolean exclusive) implements Comparable<FencingToken> {

  /** Checks that the value is positive. */
  public FencingToken {
    if (value <= 0) {
      throw new InvalidSettingException("fencing token", value, "a token is a positive number");
    }
  }

  /** The token of an exclusive hold. */
  public static FencingToken exclusive(long value) {
    return new FencingToken(value, true);
  }

  /** The token of a shared hold. */
  public static FencingToken shared(long value) {
    return new FencingToken(value, false);
  }

  /** Compares the values as whole 64-bit numbers. */
  @Override
  public int compareTo(FencingToken other) {
    return Long.compare(value, other.value);
  }
}
