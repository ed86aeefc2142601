package io.fenceline.testkit.sim;

/** What must always hold, in a simulated world as in any other. */
public enum Invariant {
  /** By the server's own time, two conflicting grants never overlap. */
  I1,
  /** A hold says that it is valid only while its lease runs at the server. */
  I2,
  /** Tokens of a name are unique, and rise from one conflicting hold to the next. */
  I3,
  /** A fence never accepts an exclusive token below the largest that it accepted. */
  I4,
  /** A release or renewal touches its own grant only. */
  I5,
  /** Loss is signalled in time, after the state has changed, and never after a release. */
  I6,
  /** After any fault has healed every name is obtainable, every waiter served, nothing left. */
  I7,
  /** A name stays closed for its lock-delay after a loss, and as long as it is to be kept. */
  DELAY,
  /** No exception ends up in a thread that belongs to nobody. */
  SOUND
}
