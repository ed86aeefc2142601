package io.fenceline.diagnosis;

/** A guarantee that a store may or may not give. */
public enum Guarantee {
  /** Grants survive the failure of any minority of the servers, and never overlap because of it. */
  LINEARIZABLE("grants are linearizable and survive a failover"),
  /** Waiting processes are granted in the order in which they asked. */
  FAIR("waiting processes are granted in order"),
  /** A name can be kept closed for a while after the lease of a vanished holder. */
  LOCK_DELAY("a name can stay closed after a lease"),
  /** A name can be kept closed for a while after a release. */
  KEEP_AT_LEAST("a name can stay closed after a release"),
  /** A crashed holder's name opens at the end of its lease, and no later than that. */
  LEASE_PER_HOLD("each hold has a lease of its own"),
  /** Several holders can share a name. */
  SHARED_MODE("a name can be shared"),
  /** A name can have permits. */
  PERMITS("a name can have permits"),
  /** Tokens keep rising when the store's data is wiped, as long as its clock is not set back. */
  TOKENS_SURVIVE_WIPE("tokens rise across a wiped store"),
  /**
   * No grant that a holder may still rely on is forgotten when the store's servers crash and
   * restart, or evicted when their memory is short. Depends on the servers' settings, which a
   * client reads when it connects. Does not cover a failover: see {@link #LINEARIZABLE}.
   */
  DURABLE("a crash of the store's servers forgets no grant");

  private final String meaning;

  Guarantee(String meaning) {
    this.meaning = meaning;
  }

  /** Returns the guarantee in words, for messages. */
  public String meaning() {
    return meaning;
  }
}
