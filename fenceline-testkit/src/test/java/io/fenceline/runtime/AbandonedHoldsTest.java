package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.MultiHold;
import io.fenceline.memory.MemorySpace;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Holds that nobody ever had: the other names of a lockAll were not to be had, or the caller had
 * gone when the grant came. The job did not run, so nothing keeps its name closed.
 */
class AbandonedHoldsTest {
  private static final Duration A_MINUTE = Duration.ofMinutes(1);
  private static final LockOptions KEPT = LockOptions.defaults().keepAtLeast(Duration.ofHours(1));

  private final ManualTime manual = new ManualTime();
  private final ArrayDeque<Runnable> callbacks = new ArrayDeque<>();
  private boolean callbacksWait;
  private final MemorySpace space = MemorySpace.create(manual::wallMillis);
  private final Fenceline other = connect(manual);
  private final Fenceline client = connect(new SlowCallbacks());

  /** Manual time, on which the threads for callbacks can be busy. */
  private final class SlowCallbacks implements Time {
    @Override
    public long nanos() {
      return manual.nanos();
    }

    @Override
    public long wallMillis() {
      return manual.wallMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
      return manual.schedule(delayNanos, task);
    }

    @Override
    public Executor lane(Lane lane) {
      return callbacksWait && lane == Lane.CALLBACK ? callbacks::add : manual.lane(lane);
    }

    @Override
    public void park(Object blocker, long maxNanos) {
      manual.park(blocker, maxNanos);
    }

    @Override
    public void close() {}
  }

  @SuppressWarnings("MustBeClosedChecker") // Closed after the test.
  private Fenceline connect(Time time) {
    return Fenceline.builder().store(space.factory()).time(time).connect();
  }

  private void runCallbacks() {
    callbacksWait = false;
    Runnable task;
    while ((task = callbacks.poll()) != null) {
      task.run();
    }
  }

  private void isFree(String name) {
    Optional<Hold> hold = other.lock(name).tryAcquire();
    assertThat(hold).as("lock '%s'", name).isPresent();
    hold.get().release();
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
  }

  @Test
  void lockAllThatIsRefused_keepsNothingClosed() {
    Hold inTheWay = other.lock("b").tryAcquire().orElseThrow();

    assertThat(client.lockAll(List.of("a", "b"), KEPT).tryAcquire()).isEmpty();
    isFree("a");
    assertThat(client.lockAll(List.of("a", "b"), KEPT).tryAcquireAsync().join()).isEmpty();
    isFree("a");
    assertThatThrownBy(() -> client.lockAll(List.of("a", "b"), KEPT).acquire(Duration.ZERO))
        .isInstanceOf(LockTimeoutException.class);
    isFree("a");
    inTheWay.release();
  }

  @Test
  void lockAllThatIsCancelled_keepsNothingClosed() {
    Hold inTheWay = other.lock("b").tryAcquire().orElseThrow();
    CompletableFuture<MultiHold> asked =
        client.lockAll(List.of("a", "b"), KEPT).acquireAsync(A_MINUTE);

    asked.cancel(false);

    isFree("a");
    inTheWay.release();
  }

  @Test
  void lockAllWhoseClientIsClosedMeanwhile_keepsNothingClosed() {
    Hold inTheWay = other.lock("b").tryAcquire().orElseThrow();
    CompletableFuture<MultiHold> asked =
        client.lockAll(List.of("a", "b"), KEPT).acquireAsync(A_MINUTE);

    client.close();

    assertThat(asked).isCompletedExceptionally();
    isFree("a");
    inTheWay.release();
  }

  @Test
  void lockAllThatCameTooLate_keepsNothingClosed() {
    Hold inTheWay = other.lock("b").tryAcquire().orElseThrow();
    callbacksWait = true;
    CompletableFuture<MultiHold> asked =
        client.lockAll(List.of("a", "b"), KEPT).acquireAsync(A_MINUTE);
    inTheWay.release();

    asked.cancel(false);
    runCallbacks();

    isFree("a");
    isFree("b");
  }

  @Test
  void acquireThatIsCancelledWhenItsGrantIsThere_keepsNothingClosed() {
    Hold inTheWay = other.lock("a").tryAcquire().orElseThrow();
    callbacksWait = true;
    CompletableFuture<Hold> asked = client.lock("a", KEPT).acquireAsync(A_MINUTE);
    inTheWay.release();

    asked.cancel(false);
    runCallbacks();

    isFree("a");
  }

  @Test
  void retriedAcquireThatIsCancelledWhenItsGrantIsThere_keepsNothingClosed() {
    LockOptions retried =
        KEPT.waiting(WaitStrategy.retry(100, Duration.ofSeconds(1), Duration.ZERO));
    Hold inTheWay = other.lock("a").tryAcquire().orElseThrow();
    callbacksWait = true;
    CompletableFuture<Hold> asked = client.lock("a", retried).acquireAsync(A_MINUTE);
    inTheWay.release();
    manual.advance(Duration.ofSeconds(2));

    asked.cancel(false);
    runCallbacks();

    isFree("a");
  }

  @Test
  void lockAllThatWasHad_keepsItsNamesClosed() {
    client.lockAll(List.of("a", "b"), KEPT).tryAcquire().orElseThrow().release();

    assertThat(other.lock("a").tryAcquire()).isEmpty();
    assertThat(other.lock("b").tryAcquire()).isEmpty();
  }
}
