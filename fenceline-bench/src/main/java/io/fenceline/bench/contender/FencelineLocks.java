package io.fenceline.bench.contender;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import java.time.Duration;

/** Fenceline with its defaults: tokens, auto-renewal, and a release that is waited for. */
final class FencelineLocks implements Contender {
  private static final Duration LONG = Duration.ofMinutes(5);

  private final Fenceline client;

  @SuppressWarnings("MustBeClosedChecker") // Whoever closes this one closes it.
  FencelineLocks(String address) {
    // Connecting is not measured, and many processes may do so at the same time.
    this.client = Fenceline.builder().store(address).connectTimeout(LONG).connect();
  }

  @Override
  public Cycle on(String name) {
    FencedLock lock = client.lock(name);
    return section -> {
      try (Hold hold = lock.acquire(LONG)) {
        section.run(hold.token());
      }
    };
  }

  @Override
  public void close() {
    client.close();
  }
}
