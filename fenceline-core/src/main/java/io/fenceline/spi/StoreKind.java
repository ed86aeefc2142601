package io.fenceline.spi;

import io.fenceline.diagnosis.Guarantees;
import java.util.List;

/**
 * A kind of store, described without connecting to one.
 *
 * @param addresses the forms of its URIs, such as {@code redis://[user:password@]host[:6379][/db]}
 * @param consistency what it does when its servers can't reach each other
 * @param latency how long an uncontended acquire takes, such as {@code one round trip, below 1 ms}
 * @param guarantees what it guarantees
 */
public record StoreKind(
    List<String> addresses, Consistency consistency, String latency, Guarantees guarantees) {

  /** What a store does when its servers can't reach each other. */
  public enum Consistency {
    /** There is one copy: nothing to disagree, and nothing to fail over to. */
    SINGLE("one copy of the locks; without its machine there are none"),
    /** Stays available; a failover can give a lock twice. */
    AP("stays available; a failover can give a lock twice"),
    /** Stays consistent; a minority of servers grants nothing. */
    CP("stays consistent; a minority of its servers grants nothing");

    private final String meaning;

    Consistency(String meaning) {
      this.meaning = meaning;
    }

    /** Returns the class in words. */
    public String meaning() {
      return meaning;
    }
  }

  /** Copies the list. */
  public StoreKind {
    addresses = List.copyOf(addresses);
  }
}
