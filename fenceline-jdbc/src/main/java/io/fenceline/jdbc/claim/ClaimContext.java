package io.fenceline.jdbc.claim;

import io.fenceline.jdbc.connection.Requests;
import io.fenceline.jdbc.waiting.Waiters;
import io.fenceline.spi.Owner;
import io.fenceline.spi.StoreContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the claims of one store share.
 *
 * @param description of the store, without secrets
 * @param client as the rows of its claims have it
 * @param unanswered claims with a request under way
 * @param seen the largest grant number that this client has seen
 */
public record ClaimContext(
    String description,
    String client,
    StoreContext store,
    Requests requests,
    FastPath fastPath,
    NameTransaction names,
    Waiters waiters,
    Map<Owner, Claim> unanswered,
    AtomicLong seen) {

  public ClaimContext(
      String description,
      String client,
      StoreContext store,
      Requests requests,
      FastPath fastPath,
      NameTransaction names,
      Waiters waiters) {
    this(
        description,
        client,
        store,
        requests,
        fastPath,
        names,
        waiters,
        new ConcurrentHashMap<>(),
        new AtomicLong());
  }
}
