package io.fenceline.cli.run;

import java.util.List;

/**
 * Who of a run is alive.
 *
 * @param ids of processes, and with a minus sign of process groups
 * @param isSure whether nobody else can be
 */
record Survivors(List<Long> ids, boolean isSure) {
  static final Survivors NONE = new Survivors(List.of(), true);
  static final Survivors UNKNOWN = new Survivors(List.of(), false);

  /** Whether the lock can be given to someone else. */
  boolean isNobody() {
    return isSure && ids.isEmpty();
  }
}
