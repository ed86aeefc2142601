package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.memory.LockTable;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Release;
import io.fenceline.spi.Renewal;
import io.fenceline.testkit.ManualTime;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An answer to a claim that comes while the claim's grant is being given back: another question was
 * under way when the grant came by itself. The withdrawal that follows must not overtake the
 * release, which may have to keep the name closed.
 */
class LateAnswerTest {
  private static final LockOptions ONCE_A_MINUTE =
      LockOptions.defaults().keepAtLeast(Duration.ofMinutes(1));
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final ManualTime time = new ManualTime();
  private final LockTable table =
      new LockTable(time::wallMillis, Duration.ofSeconds(2), Duration.ofSeconds(5));
  private final MemorySpace space = MemorySpace.over(table);
  private ClaimHandler handler;
  private Grant granted;
  private boolean holdsBack;
  private boolean losesAnswers;
  private Runnable arrives = () -> {};

  /** What is heard of the question that was under way. */
  enum Late {
    GRANTED_AGAIN,
    WAITING,
    NO_ANSWER
  }

  private void hear(Late late) {
    switch (late) {
      case GRANTED_AGAIN -> handler.granted(granted);
      case WAITING -> handler.waiting(Obstacle.UNKNOWN);
      case NO_ANSWER -> handler.failed(new StoreUnavailableException("x", "No answer", null));
    }
  }

  @SuppressWarnings("MustBeClosedChecker") // Closed by the tests.
  private Fenceline connect() {
    return Fenceline.builder()
        .store(StoreProxy.over(space.factory(), this::call))
        .time(time)
        .operationTimeout(TIMEOUT)
        .connect();
  }

  private Object call(Method method, Object[] arguments, StoreProxy.Store store) throws Throwable {
    if (method.getName().equals("claim")) {
      handler = (ClaimHandler) arguments[1];
      arguments[1] = new Heard(handler);
    } else if (method.getName().equals("renew") && losesAnswers) {
      store.ask();
      return List.of(new CompletableFuture<Renewal>());
    } else if (method.getName().equals("release") && holdsBack) {
      CompletableFuture<Release> answer = new CompletableFuture<>();
      arrives = () -> pass(store, answer);
      return answer;
    }
    return store.ask();
  }

  @SuppressWarnings("unchecked")
  private static void pass(StoreProxy.Store store, CompletableFuture<Release> answer) {
    try {
      ((CompletableFuture<Release>) store.ask()).thenAccept(answer::complete);
    } catch (Throwable e) {
      answer.completeExceptionally(e);
    }
  }

  /** Keeps the grant, so that it can be told again. */
  private final class Heard implements ClaimHandler {
    private final ClaimHandler to;

    Heard(ClaimHandler to) {
      this.to = to;
    }

    @Override
    public void granted(Grant grant) {
      granted = grant;
      to.granted(grant);
    }

    @Override
    public void waiting(Obstacle obstacle) {
      to.waiting(obstacle);
    }

    @Override
    public void refused(Obstacle obstacle) {
      to.refused(obstacle);
    }

    @Override
    public void failed(RuntimeException cause) {
      to.failed(cause);
    }
  }

  private void letThrough() {
    holdsBack = false;
    arrives.run();
  }

  /** What became of the name: told after all is closed, since a close waits for what is sent. */
  private record Seen(ReleaseOutcome outcome, boolean openAtOnce, boolean openAfterAMinute) {}

  private Seen releaseAndHear(Late late, Duration unanswered) {
    try (Fenceline client = connect();
        Fenceline other = Fenceline.builder().store(space.factory()).time(time).connect()) {
      Hold hold = client.lock("nightly", ONCE_A_MINUTE).tryAcquire().orElseThrow();
      holdsBack = true;
      CompletableFuture<ReleaseOutcome> released = hold.releaseAsync();
      hear(late);
      time.advance(unanswered);
      letThrough();
      time.advance(Duration.ofSeconds(5));
      boolean openAtOnce = other.lock("nightly").tryAcquire().isPresent();
      time.advance(Duration.ofMinutes(1).minus(unanswered));
      boolean openLater = openAtOnce || other.lock("nightly").tryAcquire().isPresent();
      return new Seen(released.getNow(null), openAtOnce, openLater);
    }
  }

  @ParameterizedTest
  @EnumSource
  void answerWhileTheNameIsGivenBack_doesNotOpenWhatIsKeptClosed(Late late) {
    assertThat(releaseAndHear(late, Duration.ofMillis(100)))
        .isEqualTo(new Seen(ReleaseOutcome.RELEASED, false, true));
  }

  @ParameterizedTest
  @EnumSource
  void releaseThatIsSentAgain_isNotOvertaken_andKeepsTheNameClosedNoLonger(Late late) {
    assertThat(releaseAndHear(late, Duration.ofSeconds(20)))
        .isEqualTo(new Seen(ReleaseOutcome.UNKNOWN, false, true));
  }

  /** The store has done the extension; the hold was lost before that could be known. */
  @ParameterizedTest
  @EnumSource
  void answerWhileALostExtensionIsGivenBack_doesNotOpenWhatIsKeptClosed(Late late) {
    LockOptions brief = ONCE_A_MINUTE.fixedLease(TIMEOUT.dividedBy(2));
    try (Fenceline client = connect();
        Fenceline other = Fenceline.builder().store(space.factory()).time(time).connect()) {
      Hold hold = client.lock("nightly", brief).tryAcquire().orElseThrow();
      losesAnswers = true;
      CompletableFuture<Void> extended = hold.extendAsync(Duration.ofMinutes(5));
      holdsBack = true;
      time.advance(TIMEOUT);
      assertThat(hold.isValid()).isFalse();
      assertThat(extended).isCompletedExceptionally();

      hear(late);
      time.advance(Duration.ofSeconds(1));
      letThrough();

      assertThat(other.lock("nightly").tryAcquire()).isEmpty();
      time.advance(Duration.ofMinutes(1));
      assertThat(other.lock("nightly").tryAcquire()).isPresent();
    }
  }
}
