package io.fenceline.runtime;

import io.fenceline.Fenceline;

/** Counts what only the runtime itself can see. */
public final class Insight {
  private Insight() {}

  /** Names, holds and waiters that a client still has anything of. */
  public static int leftovers(Fenceline fenceline) {
    Client client = (Client) fenceline;
    return client.names() + client.holds();
  }
}
