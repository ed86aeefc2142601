package io.fenceline.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.testkit.harness.SlowNetwork.KeptBack;
import io.fenceline.testkit.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** A client that stands still in the middle of a claim, for as long as others watch. */
abstract class StandingStillBehaviour extends Scenario {
  /** More than a claim that has to wait needs anywhere. */
  private static final int REQUESTS = 8;

  /** A mutex is claimed with few, or goes the way of a reader. */
  private static final int REQUESTS_OF_A_MUTEX = 4;

  private static final int OTHER_NAMES = 5;

  private final LockContract contract;

  StandingStillBehaviour(LockContract contract) {
    super(contract::harness);
    this.contract = contract;
  }

  /** A client that does not hear the answer to one of its requests, nor anything after it. */
  private record Still(LockContract.Proxied way, Fenceline client, KeptBack reply, String name) {}

  private Optional<Still> standStill(
      int request, String how, BiFunction<Fenceline, String, FencedLock> claimed) {
    Optional<LockContract.Proxied> way = contract.proxied();
    if (way.isEmpty()) {
      return Optional.empty();
    }
    String contended = name(how + request);
    Fenceline client = peer(how + request, way.get().store(), it -> {}).fenceline();
    client.lock(name("warm-" + how + request)).tryAcquire().orElseThrow().release();
    KeptBack reply = way.get().network().holdReply(request);
    inThread(() -> claimed.apply(client, contended).acquireAsync(ample).thenAccept(Hold::release));
    return Optional.of(new Still(way.get(), client, reply, contended));
  }

  @Test
  void betweenAnyTwoRequestsOfAClaim_costsNobodyAHold_andClosesNoName() {
    List<Hold> holds = new ArrayList<>();
    for (int i = 1; i <= REQUESTS; i++) {
      holds.add(a.take(name("still-" + i)));
      holds.add(a.take(name("reads-" + i)));
    }
    for (int i = 0; i < OTHER_NAMES; i++) {
      holds.add(a.take(name("other-" + i)));
    }
    List<Still> stills = new ArrayList<>();
    try {
      for (int i = 1; i <= REQUESTS; i++) {
        boolean reads = gives(Guarantee.SHARED_MODE);
        if (reads) {
          standStill(i, "reads-", (client, name) -> client.readWriteLock(name).readLock())
              .ifPresent(stills::add);
        }
        if (!reads || i <= REQUESTS_OF_A_MUTEX) {
          standStill(i, "still-", Fenceline::lock).ifPresent(stills::add);
        }
      }
      if (stills.isEmpty()) {
        return;
      }
      await("a client to stand still", () -> stills.get(0).reply().timesApplied() > 0);

      elapse(lease.multipliedBy(2));

      assertThat(holds).allMatch(Hold::isValid);
      assertThat(b.take(name("free")).isValid()).isTrue();
      holds.forEach(Hold::release);
      for (Still still : stills) {
        Hold next = get(b.lock(still.name()).acquireAsync(ample));
        assertThat(next.isValid()).isTrue();
        next.release();
      }
    } finally {
      for (Still still : stills) {
        still.way().network().heal();
        still.client().close();
        still.way().network().close();
      }
    }
  }
}
