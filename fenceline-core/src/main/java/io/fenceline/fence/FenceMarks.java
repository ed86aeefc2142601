package io.fenceline.fence;

import io.fenceline.FencingToken;

/**
 * What a fence remembers of a resource: two numbers.
 *
 * <p>An exclusive token must not be below the largest token that was accepted in any mode, since
 * each later holder, writer or reader, may assume that this writer is gone. A shared token must not
 * be below the largest exclusive one; readers may overtake each other. The same token is accepted
 * again, so that a write can be repeated.
 *
 * @param exclusive the largest exclusive token accepted, or 0
 * @param any the largest token accepted in any mode, or 0
 */
public record FenceMarks(long exclusive, long any) {

  /** The marks before any token was accepted. */
  public static final FenceMarks NONE = new FenceMarks(0, 0);

  private static final int DIGITS = 19;

  /** Returns whether a token may pass. */
  public boolean admits(FencingToken token) {
    return token.value() >= markFor(token);
  }

  /** Returns the mark that a token must not be below. */
  public long markFor(FencingToken token) {
    return token.exclusive() ? any : exclusive;
  }

  /** Returns the marks after a token has passed. */
  public FenceMarks after(FencingToken token) {
    return new FenceMarks(
        token.exclusive() ? Math.max(exclusive, token.value()) : exclusive,
        Math.max(any, token.value()));
  }

  /** Returns marks of which each is the larger one of both. */
  public FenceMarks atLeast(FenceMarks other) {
    return new FenceMarks(Math.max(exclusive, other.exclusive), Math.max(any, other.any));
  }

  /**
   * Returns a token or mark with 19 digits, so that texts compare exactly like numbers where
   * numbers are rounded (Lua) or only texts can be compared (etcd).
   */
  public static String digits(long value) {
    String plain = Long.toString(value);
    return "0".repeat(DIGITS - plain.length()) + plain;
  }

  /** Returns both marks as text: the exclusive mark, a space, the other one. */
  public String text() {
    return digits(exclusive) + " " + digits(any);
  }

  /**
   * Returns the marks that a {@link #text} stands for.
   *
   * @throws IllegalArgumentException if it is no such text
   */
  public static FenceMarks parse(String text) {
    if (text.length() != 2 * DIGITS + 1 || text.charAt(DIGITS) != ' ') {
      throw new IllegalArgumentException(
          "not a pair of tokens as a fence stores them: '" + text + "'");
    }
    return new FenceMarks(
        Long.parseLong(text, 0, DIGITS, 10), Long.parseLong(text, DIGITS + 1, 2 * DIGITS + 1, 10));
  }
}
