package io.fenceline.spi;

import io.fenceline.StoreRefusedException;

/** Refusals that all stores have in common, with the same messages. */
public final class Refusals {
  private Refusals() {}

  /** Returns the refusal of a name that is in use as another kind of lock. */
  public static StoreRefusedException otherKind(String name, String claimed, String inUse) {
    return new StoreRefusedException(
        "Lock '%s' was claimed as a %s, but is in use as a %s. A name has one kind and one number of permits while anyone holds it or waits."
            .formatted(name, claimed, inUse),
        null);
  }

  /** Returns the refusal of a grant number that does not fit into a token; tokens never wrap. */
  public static StoreRefusedException numberTooLarge(String name, long number, long largest) {
    return new StoreRefusedException(
        "Lock '%s' was given grant number %d, which does not fit into a token (largest=%d). Check the store's clock and tokenBase."
            .formatted(name, number, largest),
        null);
  }
}
