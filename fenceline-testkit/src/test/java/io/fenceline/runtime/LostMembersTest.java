package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LimitExceededException;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.MultiHold;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A lock of several that is lost while the others are waited for: all, or none. */
class LostMembersTest {
  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final List<String> BOTH = List.of("a", "b");
  private static final LockOptions FIXED = LockOptions.defaults().fixedLease(LEASE);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private int slowClaims;
  private Duration slowRenewal = Duration.ZERO;
  private final Client client = (Client) connect();
  private final Fenceline other = Fenceline.builder().store(space.factory()).time(time).connect();

  @SuppressWarnings("MustBeClosedChecker") // Closed after the test.
  private Fenceline connect() {
    return Fenceline.builder()
        .store(StoreProxy.over(space.factory(), this::call))
        .time(time)
        .connect();
  }

  private Object call(java.lang.reflect.Method method, Object[] arguments, StoreProxy.Store store)
      throws Throwable {
    boolean slow =
        method.getName().equals("claim")
            && ((ClaimRequest) arguments[0]).name().equals("b")
            && slowClaims > 0;
    if (slow) {
      slowClaims--;
      time.pause(LEASE.plusSeconds(1));
    }
    Object answer = store.ask();
    if (method.getName().equals("renew")) {
      time.pause(slowRenewal);
    }
    return answer;
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
  }

  @Test
  void oneThatIsLostWhileTheNextIsWaitedFor_isTakenAgainFirst() {
    Hold inTheWay = other.lock("b").tryAcquire().orElseThrow();
    CompletableFuture<MultiHold> asked = client.lockAll(BOTH, FIXED).acquireAsync(LONG);
    time.advance(LEASE.plusSeconds(1));
    Hold thief = other.lock("a").tryAcquire().orElseThrow();

    inTheWay.release();

    assertThat(asked).as("all, though one is someone else's").isNotDone();
    assertThat(other.lock("b").tryAcquire().orElseThrow().release()).isNotNull();
    thief.release();
    MultiHold all = asked.join();
    assertThat(all.isValid()).isTrue();
    all.release();
    assertThat(client.holds() + client.names()).isZero();
  }

  @Test
  void blockingCall_startsOverToo() throws Exception {
    slowClaims = 1;
    FutureTask<Boolean> call =
        new FutureTask<>(
            () -> {
              try (MultiHold all = client.lockAll(BOTH, FIXED).acquire(LONG)) {
                return all.isValid();
              }
            });
    Thread thread = new Thread(call, "caller");
    thread.start();

    Eventually.until(BOUND, "the call", call::isDone);
    assertThat(call.get()).isTrue();
    assertThat(client.holds() + client.names()).isZero();
  }

  @Test
  void lastOneThatComesAfterTheTimeIsOver_isATimeout() {
    slowClaims = 1;

    assertThatThrownBy(() -> client.lockAll(BOTH, FIXED).acquire(LEASE))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("Lock 'a' was not acquired within 30s");

    slowClaims = 1;
    CompletableFuture<MultiHold> asked = client.lockAll(BOTH, FIXED).acquireAsync(LEASE);
    assertThatThrownBy(asked::join).hasCauseInstanceOf(LockTimeoutException.class);
    assertThat(client.holds() + client.names()).isZero();
    assertThat(other.lockAll("a", "b").tryAcquire()).isPresent();
  }

  @Test
  void tryThatLosesOne_hasNone() {
    slowClaims = 2;

    assertThat(client.lockAll(BOTH, FIXED).tryAcquire()).isEmpty();
    assertThat(client.lockAll(BOTH, FIXED).tryAcquireAsync().join()).isEmpty();

    assertThat(client.holds() + client.names()).isZero();
    assertThat(other.lockAll("a", "b").tryAcquire()).isPresent();
  }

  @Test
  void ensure_isTrueOfAllOfThemAtTheSameTime() throws InterruptedException {
    LockOptions renewed = LockOptions.defaults().lease(LEASE);
    try (MultiHold all = client.lockAll(BOTH, renewed).tryAcquire().orElseThrow()) {
      time.pause(Duration.ofSeconds(15));
      slowRenewal = Duration.ofSeconds(5);

      // By the time that the second one is renewed, the first one has used up five seconds.
      try {
        all.ensure(Duration.ofSeconds(22));
        assertThat(all.remaining()).isGreaterThanOrEqualTo(Duration.ofSeconds(22));
      } catch (LimitExceededException e) {
        assertThat(all.remaining()).isLessThan(Duration.ofSeconds(22));
      }
    }
  }

  @Test
  void ensureAfterMaxHold_renewsNothing() {
    LockOptions bounded = LockOptions.defaults().lease(LEASE).maxHold(Duration.ofSeconds(20));
    try (Hold hold = client.lock("a", bounded).tryAcquire().orElseThrow()) {
      time.pause(Duration.ofSeconds(21));
      Duration left = hold.remaining();

      assertThatThrownBy(() -> hold.ensure(Duration.ofSeconds(20)))
          .isInstanceOf(LimitExceededException.class);
      assertThat(hold.remaining()).isEqualTo(left);
    }
  }
}
