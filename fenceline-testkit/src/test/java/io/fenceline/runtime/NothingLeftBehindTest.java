package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReentrantFencedLock;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A name that was used once leaves nothing behind: not in the client, not in the store (I7). */
class NothingLeftBehindTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final Client client = connect();
  private final Client other = connect();

  @SuppressWarnings("MustBeClosedChecker") // Closed after the test.
  private Client connect() {
    return (Client)
        Fenceline.builder()
            .store(space.factory())
            .time(time)
            .defaultOptions(LockOptions.defaults().lease(LEASE))
            .connect();
  }

  private void nothingIsLeft() {
    time.advance(LEASE.multipliedBy(2)); // A timer that was set for the last of them is over then.
    assertThat(client.names()).as("names of the client").isZero();
    assertThat(client.holds()).as("holds of the client").isZero();
    assertThat(client.clientGrants()).as("grants in the renewer").isZero();
    assertThat(client.undos()).as("pending undos").isZero();
    assertThat(other.names()).as("names of the other client").isZero();
    assertThat(other.clientGrants()).as("grants of the other client").isZero();
    assertThat(space.size()).as("names of the store").isZero();
    assertThat(time.timers()).as("timers").isZero();
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
  }

  @Test
  void aMillionDistinctNamesUsedOnce_leaveNoEntryBehind() {
    for (int i = 0; i < 1_000_000; i++) {
      Hold hold = client.lock("name-" + i).tryAcquire().orElseThrow();
      hold.release();
    }

    assertThat(client.names()).isZero();
    assertThat(client.clientGrants()).isZero();
    assertThat(space.size()).isZero();
    assertThat(time.timers()).as("the renewer's and the store's").isLessThanOrEqualTo(2);
    nothingIsLeft();
  }

  @Test
  void namesThatWereHeldTogether_leaveNoEntryBehind() {
    Hold[] holds = new Hold[20_000];
    for (int i = 0; i < holds.length; i++) {
      holds[i] = client.lock("name-" + i).tryAcquire().orElseThrow();
    }
    time.advance(LEASE.multipliedBy(2));
    assertThat(client.clientGrants()).isEqualTo(holds.length);
    assertThat(space.size()).isEqualTo(holds.length);

    for (Hold hold : holds) {
      hold.release();
    }

    nothingIsLeft();
  }

  @Test
  void readersPermitsAndThreads_leaveNoEntryBehind() {
    for (int i = 0; i < 5_000; i++) {
      client.readWriteLock("rw-" + i).readLock().tryAcquire().orElseThrow().release();
      client.semaphore("s-" + i, 3).several(2).tryAcquire().orElseThrow().release();
      client.lockAll("x-" + i, "y-" + i).tryAcquire().orElseThrow().release();
      ReentrantFencedLock lock = client.lock("t-" + i).asReentrantLock();
      lock.lock();
      lock.unlock();
    }

    nothingIsLeft();
  }

  @Test
  void refusedCancelledAndTimedOutClaims_leaveNoEntryBehind() {
    for (int i = 0; i < 2_000; i++) {
      String name = "name-" + i;
      Hold hold = other.lock(name).tryAcquire().orElseThrow();
      Optional<Hold> refused = client.lock(name).tryAcquire();
      CompletableFuture<Hold> cancelled = client.lock(name).acquireAsync(LEASE);
      CompletableFuture<Hold> timedOut = client.lock(name).acquireAsync(Duration.ofMillis(5));
      CompletableFuture<Hold> reader =
          client.readWriteLock(name).readLock().acquireAsync(Duration.ofMillis(5));
      cancelled.cancel(false);
      time.advance(Duration.ofMillis(5));
      assertThat(refused).isEmpty();
      assertThat(timedOut).isCompletedExceptionally();
      assertThat(reader).isCompletedExceptionally();
      hold.release();
    }

    nothingIsLeft();
  }

  @Test
  void holdsThatRanOut_leaveNoEntryBehind() {
    LockOptions fixed = LockOptions.defaults().fixedLease(LEASE);
    for (int i = 0; i < 5_000; i++) {
      assertThat(client.lock("name-" + i, fixed).tryAcquire()).isPresent();
    }

    nothingIsLeft();
  }

  @Test
  void namesThatWereKeptClosed_leaveNoEntryBehind() {
    LockOptions kept = LockOptions.defaults().keepAtLeast(Duration.ofSeconds(1));
    LockOptions delayed = LockOptions.defaults().fixedLease(LEASE).lockDelay(LEASE);
    for (int i = 0; i < 5_000; i++) {
      client.lock("kept-" + i, kept).tryAcquire().orElseThrow().release();
      assertThat(client.lock("late-" + i, delayed).tryAcquire()).isPresent();
    }

    time.advance(Duration.ofMinutes(5)); // Nobody asks for any of them again.

    nothingIsLeft();
  }
}
