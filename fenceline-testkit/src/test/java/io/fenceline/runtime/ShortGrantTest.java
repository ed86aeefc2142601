package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.Validity;
import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Moment;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A grant that a store has handed over: short until its first renewal, and known by a message. */
class ShortGrantTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofSeconds(2);
  private static final Duration SILENT = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private int renewals;

  /** The memory store, but each grant is short, and counts from a question of long ago. */
  private @Nullable Object handOver(Method method, Object[] arguments, StoreProxy.Store store)
      throws Throwable {
    switch (method.getName()) {
      case "claim" -> {
        Moment asked = time.now();
        time.advance(SILENT);
        Validity validity = new Validity(asked, SHORT.plus(SILENT));
        ((ClaimHandler) arguments[1]).granted(new Grant(1, validity));
        return null;
      }
      case "renew" -> {
        renewals++;
        Validity validity = new Validity(time.now(), LEASE);
        return List.of(CompletableFuture.<Renewal>completedFuture(new Renewal.Renewed(validity)));
      }
      default -> {
        return store.ask();
      }
    }
  }

  @Test
  void isRenewedSoon_butNotBeforeItCanBePassedOn() {
    MemorySpace space = MemorySpace.create(time::wallMillis);
    try (Fenceline client =
        Fenceline.builder()
            .store(StoreProxy.over(space.factory(), this::handOver))
            .time(time)
            .defaultOptions(LockOptions.defaults().lease(LEASE))
            .connect()) {
      Hold hold = client.lock("ledger").tryAcquire().orElseThrow();

      time.advance(Duration.ofMillis(50));
      assertThat(renewals).isZero();

      time.advance(Duration.ofMillis(200));
      assertThat(renewals).isEqualTo(1);
      assertThat(hold.remaining()).isGreaterThan(LEASE.dividedBy(2));
    }
  }
}
