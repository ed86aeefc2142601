package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StoreUnavailableException;
import io.fenceline.memory.LockTable;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A claim that is asked for again and again, through a store that has more than one connection: the
 * question that is under way when the caller gives up may arrive after the withdrawal.
 */
class LateFailureTest {
  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final ClientInfo SELF = new ClientInfo("self", "host", 1);

  private final ManualTime time = new ManualTime();
  private final LockTable table =
      new LockTable(time::wallMillis, Duration.ofSeconds(2), Duration.ofSeconds(5));
  private final MemorySpace space = MemorySpace.over(table);
  private StoreContext context;
  private QueuedClaim claim;
  private boolean underWay;
  private int throwing;
  private @Nullable RuntimeException broken;
  private Runnable arrives = () -> {};
  private CompletableFuture<ClaimAnswer> answer = new CompletableFuture<>();

  @SuppressWarnings("MustBeClosedChecker") // Closed by the tests.
  private Fenceline connect() {
    return Fenceline.builder()
        .store(
            (StoreFactory)
                opened -> {
                  context = opened;
                  return StoreProxy.over(space.factory(), this::call).open(opened);
                })
        .time(time)
        .connect();
  }

  private Object call(java.lang.reflect.Method method, Object[] arguments, StoreProxy.Store store)
      throws Throwable {
    if (method.getName().equals("claim")) {
      claim =
          new QueuedClaim(
              "proxy:",
              (ClaimRequest) arguments[0],
              (ClaimHandler) arguments[1],
              context,
              INTERVAL,
              this::ask);
      claim.ask();
      return null;
    }
    if (method.getName().equals("withdraw")) {
      claim.stop();
    }
    return store.ask();
  }

  private CompletableFuture<ClaimAnswer> ask(ClaimRequest request) {
    if (throwing > 0) {
      throwing--;
      throw new StackOverflowError("deep in the driver");
    }
    if (broken != null) {
      throw broken;
    }
    if (!underWay) {
      return CompletableFuture.completedFuture(table.claim(request, SELF));
    }
    arrives = () -> table.claim(request, SELF);
    answer = new CompletableFuture<>();
    return answer;
  }

  @Test
  void questionThatOvertookItsWithdrawal_andWhoseAnswerIsLost_isUndoneOnceMore() {
    try (Fenceline other = Fenceline.builder().store(space.factory()).time(time).connect();
        Fenceline client = connect()) {
      Hold inTheWay = other.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<Hold> asked = client.lock("ledger").acquireAsync(Duration.ofMinutes(5));
      underWay = true;
      time.advance(INTERVAL.multipliedBy(2));

      asked.cancel(false); // Withdrawn on another connection.
      inTheWay.release();
      arrives.run(); // Only now: it is granted.
      answer.completeExceptionally(new StoreUnavailableException("x", "No answer", null));
      time.advance(Duration.ZERO);

      assertThat(table.inspect("ledger").holders()).isEmpty();
    }
  }

  @Test
  void failureOfADriver_isSaidWithTheNameOfTheLock_andOfTheStore() {
    try (Fenceline client = connect()) {
      broken = new IllegalStateException("no buffer left");

      assertThatThrownBy(() -> client.lock("ledger").tryAcquire())
          .isInstanceOfSatisfying(
              StoreUnavailableException.class, e -> assertThat(e.store()).isEqualTo("proxy:"))
          .hasMessage(
              "The claim of lock 'ledger' failed: java.lang.IllegalStateException: no buffer left (store=proxy:)");
    }
  }

  @Test
  void questionThatThrewAnErrorOnce_isAskedAgain() {
    try (Fenceline other = Fenceline.builder().store(space.factory()).time(time).connect();
        Fenceline client = connect()) {
      Hold inTheWay = other.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<Hold> asked = client.lock("ledger").acquireAsync(Duration.ofMinutes(5));
      throwing = 1;
      time.advance(INTERVAL.multipliedBy(2)); // Throws, on a thread of the runtime.
      assertThat(throwing).isZero();
      inTheWay.release();
      time.advance(INTERVAL.multipliedBy(2));

      assertThat(asked).isCompleted();
      asked.join().release();
    }
  }

  @Test
  void questionThatThrowsAnErrorAgain_throwsItToTheCaller() {
    try (Fenceline other = Fenceline.builder().store(space.factory()).time(time).connect();
        Fenceline client = connect()) {
      Hold inTheWay = other.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<Hold> asked = client.lock("ledger").acquireAsync(Duration.ofMinutes(5));
      throwing = 2;

      time.advance(INTERVAL.multipliedBy(3));

      assertThatThrownBy(asked::join).hasCauseInstanceOf(StackOverflowError.class);
      inTheWay.release();
      assertThat(table.size()).isZero();
    }
  }
}
