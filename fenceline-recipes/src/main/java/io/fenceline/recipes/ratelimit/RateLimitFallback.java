package io.fenceline.recipes.ratelimit;

import io.fenceline.settings.InvalidSettingException;

/**
 * What a limit does while its store gives no answer. Only the caller can know, so there is no
 * default.
 */
public final class RateLimitFallback {
  private final int localPermits;

  private RateLimitFallback(int localPermits) {
    this.localPermits = localPermits;
  }

  /**
   * Nothing is admitted: calls throw {@link io.fenceline.StoreUnavailableException}. Right where
   * the limit protects something that breaks.
   */
  public static RateLimitFallback refuse() {
    return new RateLimitFallback(0);
  }

  /**
   * Each process admits up to so many permits in a period, by itself. Right where a limit is
   * fairness and not protection, or for the share of one process of many: then the limit holds, as
   * long as there are not more of them.
   */
  public static RateLimitFallback admitLocally(int permits) {
    if (permits < 1) {
      throw new InvalidSettingException(
          "permits", permits, "it must be at least 1; to admit none, use refuse()");
    }
    return new RateLimitFallback(permits);
  }

  boolean isLocal() {
    return localPermits > 0;
  }

  int localPermits() {
    return localPermits;
  }

  @Override
  public String toString() {
    return isLocal() ? "admit " + localPermits + " locally" : "refuse";
  }
}
