package io.fenceline.settings;

import io.fenceline.LimitExceededException;

/**
 * How much of everything a client may have. Reaching one is an error of its own, {@link
 * LimitExceededException}, and takes nothing.
 *
 * @param waitersPerName callers of this client that wait for one name
 * @param holds holds and permits of this client
 * @param pendingUndos claims whose outcome is unknown and not yet undone; reached when a store
 *     stays down, and then new claims fail at once
 */
public record Limits(int waitersPerName, int holds, int pendingUndos) {

  /** 10,000 waiters a name, 1,000,000 holds, 10,000 undos. */
  public static final Limits DEFAULTS = new Limits(10_000, 1_000_000, 10_000);

  /** Checks that each is positive. */
  public Limits {
    check("waitersPerName", waitersPerName);
    check("holds", holds);
    check("pendingUndos", pendingUndos);
  }

  private static void check(String limit, int value) {
    if (value < 1) {
      throw new InvalidSettingException(limit, value, "a limit is at least 1");
    }
  }
}
