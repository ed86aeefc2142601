package io.fenceline.settings;

/**
 * The maximum numbers of waiters, holds and pending undos of a client. A call that would exceed one
 * fails with {@code LimitExceededException} and acquires nothing. Leases have {@link LeaseLimits},
 * and names are checked by {@code LockNames}.
 *
 * @param waitersPerName callers of this client that may wait for one name
 * @param holds holds and permits of this client
 * @param pendingUndos claims whose outcome is unknown and that are not yet undone; if this limit is
 *     reached because a store stays down, new claims fail at once
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
