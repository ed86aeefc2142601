package io.fenceline.zookeeper.claim;

import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes claims that have waited for a while read who has the name. It is told to people only, and a
 * wait that soon ends with a grant tells nobody.
 *
 * <p>One timer for all claims of a store, which is not set while none waits.
 */
public final class LateReads {
  static final long WHILE_NANOS = 250_000_000;

  private final StoreContext context;

  // Guarded by this.
  private List<Claim> waiting = new ArrayList<>();

  public LateReads(StoreContext context) {
    this.context = context;
  }

  /** Makes a claim that begins to wait read later. */
  void add(Claim claim) {
    boolean first;
    synchronized (this) {
      first = waiting.isEmpty();
      waiting.add(claim);
    }
    if (first) {
      context
          .time()
          .schedule(WHILE_NANOS, () -> context.time().lane(Lane.WORK).execute(this::readAll));
    }
  }

  private void readAll() {
    List<Claim> all;
    synchronized (this) {
      all = waiting;
      waiting = new ArrayList<>();
    }
    all.forEach(Claim::readHead);
  }
}
