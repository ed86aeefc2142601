package io.fenceline.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.testkit.harness.SlowNetwork.KeptBack;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Calls whose answers are kept back on their way: whatever says that it does not block does not,
 * and limits and interrupts are kept.
 */
abstract class SlowRepliesBehaviour extends Scenario {
  /** Longer than a call needs to return, and shorter than what is kept back is waited for. */
  private static final Duration OPERATION = Duration.ofSeconds(20);

  private static final int NAMES = 10;
  private static final Duration BRIEF = Duration.ofMillis(50);

  private final LockContract contract;

  SlowRepliesBehaviour(LockContract contract) {
    super(contract::harness);
    this.contract = contract;
  }

  @FunctionalInterface
  private interface Check {
    void with(Fenceline client, Supplier<KeptBack> keepBack) throws Exception;
  }

  /** Runs a check on a client whose answers can be kept back, if the store has a network at all. */
  private void behindAProxy(Check check) throws Exception {
    Optional<LockContract.Proxied> way = contract.proxied();
    if (way.isEmpty()) {
      return;
    }
    try (var network = way.get().network()) {
      Fenceline client =
          peer("slow", way.get().store(), it -> it.operationTimeout(OPERATION)).fenceline();
      client.lock(name("warm")).tryAcquire().orElseThrow().release();
      try {
        check.with(client, network::holdReplies);
      } finally {
        network.heal();
        client.close();
      }
    }
  }

  /** Makes a call that must return while its answer is kept back, and then lets that go. */
  private <T> T whileKeptBack(Supplier<KeptBack> keepBack, Supplier<CompletableFuture<T>> call) {
    KeptBack replies = keepBack.get();
    CompletableFuture<T> answer = inThread(call::get).result();
    assertThat(answer).isNotDone();
    await("the answer to be kept back", () -> replies.timesApplied() > 0);
    assertThat(answer).isNotDone();
    replies.lift();
    return get(answer);
  }

  /** That a call has ended before the request that it waited for was given up. */
  private static void assertNotKeptBackSince(long beganNanos) {
    assertThat(Duration.ofNanos(System.nanoTime() - beganNanos)).isLessThan(OPERATION.dividedBy(2));
  }

  @Test
  void asyncCalls_returnBeforeTheirAnswers() throws Exception {
    behindAProxy(
        (client, keepBack) -> {
          Hold hold = whileKeptBack(keepBack, () -> client.lock(ledger).acquireAsync(ample));
          assertThat(hold.isValid()).isTrue();
          assertThat(whileKeptBack(keepBack, () -> client.inspectAsync(ledger)).holders())
              .hasSize(1);
          assertThat(whileKeptBack(keepBack, () -> client.listAsync(ledger, 10))).hasSize(1);
          assertThat(whileKeptBack(keepBack, hold::releaseAsync))
              .isEqualTo(ReleaseOutcome.RELEASED);
        });
  }

  @Test
  void asyncCallsOfManyNames_waitForNoneOfTheOthers() throws Exception {
    behindAProxy(
        (client, keepBack) -> {
          KeptBack replies = keepBack.get();
          List<CompletableFuture<Hold>> claims =
              inThread(
                      () -> {
                        List<CompletableFuture<Hold>> made = new ArrayList<>();
                        for (int i = 0; i < NAMES; i++) {
                          made.add(client.lock(name("many-" + i)).acquireAsync(ample));
                        }
                        return made;
                      })
                  .result();
          await("an answer to be kept back", () -> replies.timesApplied() > 0);
          assertThat(claims).noneMatch(CompletableFuture::isDone);
          replies.lift();
          claims.forEach(claim -> get(claim).release());
        });
  }

  @Test
  void limit_isKept_andWhatIsGrantedTooLateIsGivenBack() throws Exception {
    behindAProxy(
        (client, keepBack) -> {
          KeptBack replies = keepBack.get();
          long began = System.nanoTime();
          Blocked<Hold> acquiring = acquiring(client.lock(ledger), BRIEF);

          assertThat(acquiring.failure())
              .isInstanceOf(StoreUnavailableException.class)
              .hasMessageContaining("within 50ms: the store gave no answer");
          assertNotKeptBackSince(began);
          assertThat(replies.timesApplied()).isPositive();
          replies.lift();
          // What is under way may arrive after a look that finds the name free.
          await("another to get it", () -> b.tryTake(ledger).isPresent());
        });
  }

  @Test
  void interrupt_isHeard_andWhatIsGrantedTooLateIsGivenBack() throws Exception {
    behindAProxy(
        (client, keepBack) -> {
          KeptBack replies = keepBack.get();
          Blocked<Hold> acquiring = acquiring(client.lock(ledger), ample);
          await("the answer to be kept back", () -> replies.timesApplied() > 0);

          long began = System.nanoTime();
          acquiring.interrupt();

          assertThat(acquiring.failure()).isInstanceOf(InterruptedException.class);
          assertNotKeptBackSince(began);
          replies.lift();
          // What is under way may arrive after a look that finds the name free.
          await("another to get it", () -> b.tryTake(ledger).isPresent());
        });
  }
}
