package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.event.Leaked;
import io.fenceline.event.LockEvent;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Holds whose owner is gone are no longer renewed, and are reported. */
class LeakTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();
  private final Client client =
      (Client)
          Fenceline.builder()
              .store(space.factory())
              .time(time)
              .listener(
                  new io.fenceline.event.LockListener() {
                    @Override
                    public void on(LockEvent event) {
                      events.add(event);
                    }
                  })
              .defaultOptions(LockOptions.defaults().lease(LEASE))
              .connect();

  @AfterEach
  void close() {
    client.close();
  }

  private List<Leaked> leaks() {
    return events.stream().filter(Leaked.class::isInstance).map(Leaked.class::cast).toList();
  }

  /** Takes a lock and forgets it; gives its token only. */
  private long takeAndForget(LockOptions options) {
    Hold hold = client.lock("ledger", options).tryAcquire().orElseThrow();
    return hold.token();
  }

  @Test
  void holdThatWasCollected_isReported_withWhereItWasAcquired_andEndsWithItsLease() {
    long token = takeAndForget(LockOptions.defaults().lease(LEASE).leakTrace());

    Eventually.until(
        BOUND,
        "the hold to be collected",
        () -> {
          System.gc();
          time.advance(LEASE.dividedBy(3)); // The renewer looks at every renewal.
          return !leaks().isEmpty();
        });
    time.advance(LEASE);

    Leaked leak = leaks().get(0);
    assertThat(leaks()).hasSize(1);
    assertThat(leak.cause()).isEqualTo(Leaked.Cause.COLLECTED);
    assertThat(leak.name()).isEqualTo("ledger");
    assertThat(leak.token()).isEqualTo(token);
    assertThat(leak.lease()).isEqualTo(LEASE);
    assertThat(leak.acquiredAt().getStackTrace())
        .anyMatch(frame -> frame.getMethodName().equals("takeAndForget"));
    assertThat(client.inspect("ledger").isFree()).isTrue();
    assertThat(client.holds()).isZero();
  }

  @Test
  void holdThatIsStillReferredTo_isNoLeak() {
    Hold hold = client.lock("ledger").tryAcquire().orElseThrow();
    for (int i = 0; i < 3; i++) {
      System.gc();
      time.advance(LEASE);
    }

    assertThat(leaks()).isEmpty();
    assertThat(hold.isValid()).isTrue();
    hold.release();
  }

  @Test
  void lockWhoseOwnerThreadEnded_isReported_andEndsWithItsLease() throws InterruptedException {
    Thread owner = new Thread(() -> client.lock("ledger").asReentrantLock().lock());
    owner.start();
    owner.join();
    assertThat(client.inspect("ledger").isFree()).isFalse();

    time.advance(LEASE.multipliedBy(2));

    assertThat(leaks()).extracting(Leaked::cause).containsExactly(Leaked.Cause.OWNER_ENDED);
    assertThat(client.inspect("ledger").isFree()).isTrue();
    assertThat(client.clientGrants()).isZero();
    assertThat(client.holds()).isZero();
  }

  @Test
  void lockWhoseOwnerThreadLives_isNoLeak() {
    var lock = client.lock("ledger").asReentrantLock();
    lock.lock();

    time.advance(LEASE.multipliedBy(5));

    assertThat(leaks()).isEmpty();
    assertThat(lock.hold().isValid()).isTrue();
    lock.unlock();
  }
}
