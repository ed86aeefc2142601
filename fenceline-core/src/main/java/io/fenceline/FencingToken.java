package io.fenceline;

import io.fenceline.settings.InvalidSettingException;

/**
 * A token that a fence can check: its number, and whether its hold was exclusive or shared.
 *
 * <p>Of two exclusive holds of one name, the later one has the larger token. A resource that
 * remembers the largest token it has seen can therefore refuse a writer that was overtaken. Permits
 * of a semaphore have tokens, too, but several are valid at once, so they can't be fenced: their
 * tokens are plain numbers and never of this type.
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

  /** Returns the token of an exclusive hold. */
  public static FencingToken exclusive(long value) {
    return new FencingToken(value, true);
  }

  /** Returns the token of a shared hold. */
  public static FencingToken shared(long value) {
    return new FencingToken(value, false);
  }

  /** Compares the values as whole 64-bit numbers. */
  @Override
  public int compareTo(FencingToken other) {
    return Long.compare(value, other.value);
  }
}
