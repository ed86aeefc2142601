package io.fenceline.fence;

import io.fenceline.FencingToken;

/**
 * What a fence remembers of a resource: two numbers.
 *
 * <p>An exclusive token must not be below the largest that was accepted in any mode: whoever came
 * later, writer or reader, was promised that this writer is gone. A shared token must not be below
 * the largest exclusive one; readers that overtake each other do no harm. The same token is
 * accepted again, so that a write may be repeated.
 *
 * @param exclusive the largest exclusive token accepted, or 0
 * @param any the largest token accepted in any mode, or 0
 */
public record FenceMarks(long exclusive, long any) {

  /** Nothing was accepted yet. */
  public static final FenceMarks NONE = new FenceMarks(0, 0);

  /** Whether a token may pass. */
  public boolean admits(FencingToken token) {
    return token.value() >= markFor(token);
  }

  /** The mark that a token must not be below. */
  public long markFor(FencingToken token) {
    return token.exclusive() ? any : exclusive;
  }

  /** The marks after a token has passed. */
  public FenceMarks after(FencingToken token) {
    return new FenceMarks(
        token.exclusive() ? Math.max(exclusive, token.value()) : exclusive,
        Math.max(any, token.value()));
  }
}
