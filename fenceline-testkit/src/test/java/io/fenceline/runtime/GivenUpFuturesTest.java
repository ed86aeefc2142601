package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.memory.MemorySpace;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Futures that someone else completes, as {@code orTimeout} does: as good as cancelled. */
class GivenUpFuturesTest {
  private static final Duration AMPLE = Duration.ofMinutes(10);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final Client client = connect();
  private final Client other = connect();

  @SuppressWarnings("MustBeClosedChecker") // Closed after the test.
  private Client connect() {
    return (Client) Fenceline.builder().store(space.factory()).time(time).connect();
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
  }

  /** Something that waits for {@code ledger}. */
  enum Way {
    LOCK,
    READER,
    ALL,
    RETRYING;

    Acquirable<? extends Held> of(Fenceline fenceline) {
      LockOptions retrying =
          LockOptions.defaults()
              .waiting(WaitStrategy.retry(1_000, Duration.ofSeconds(1), Duration.ZERO));
      return switch (this) {
        case LOCK -> fenceline.lock("ledger");
        case READER -> fenceline.readWriteLock("ledger").readLock();
        case ALL -> fenceline.lockAll("a", "ledger");
        case RETRYING -> fenceline.lock("ledger", retrying);
      };
    }
  }

  static Stream<Way> ways() {
    return Stream.of(Way.values());
  }

  @ParameterizedTest
  @MethodSource("ways")
  void acquireThatTimedOutOutside_leavesTheQueue(Way way) {
    Hold inTheWay = other.lock("ledger").tryAcquire().orElseThrow();
    CompletableFuture<? extends Held> asked = way.of(client).acquireAsync(AMPLE);

    asked.completeExceptionally(new TimeoutException());

    isGone();
    inTheWay.release();
    isGone();
  }

  @ParameterizedTest
  @MethodSource("ways")
  void taskWhoseResultTimedOut_isNotRun(Way way) {
    Hold inTheWay = other.lock("ledger").tryAcquire().orElseThrow();
    AtomicInteger runs = new AtomicInteger();
    CompletableFuture<String> called = call(way.of(client), runs);

    called.completeExceptionally(new TimeoutException());

    isGone();
    inTheWay.release();
    time.advance(Duration.ofSeconds(5));
    assertThat(runs).hasValue(0);
    isGone();
  }

  @Test
  void taskWhoseResultIsSettledWhileItIsAcquired_isNotRun() {
    AtomicInteger runs = new AtomicInteger();
    Hold inTheWay = other.lock("ledger").tryAcquire().orElseThrow();
    CompletableFuture<Hold> first = client.lock("ledger").acquireAsync(AMPLE);
    CompletableFuture<String> called = call(client.lock("ledger"), runs);
    // Handed on to the second within the callback of the first, which settles its result.
    first.thenAccept(
        hold -> {
          hold.release();
          called.complete("someone else's answer");
        });

    inTheWay.release();

    assertThat(called).isCompletedWithValue("someone else's answer");
    assertThat(runs).hasValue(0);
    isGone();
  }

  private static <H extends Held> CompletableFuture<String> call(
      Acquirable<H> lock, AtomicInteger runs) {
    return lock.callAsync(
        AMPLE,
        hold -> {
          runs.incrementAndGet();
          return CompletableFuture.completedFuture("done");
        });
  }

  private void isGone() {
    time.advance(Duration.ofSeconds(1));
    assertThat(client.holds()).as("holds and waits of the client").isZero();
    assertThat(client.names()).as("names of the client").isZero();
    assertThat(client.inspect("ledger").waiters()).as("waiters at the store").isEmpty();
    assertThat(List.of(client.inspect("a").isFree())).containsExactly(true);
  }
}
