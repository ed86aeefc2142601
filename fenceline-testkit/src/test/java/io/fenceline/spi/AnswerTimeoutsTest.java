package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Each answer has its own time, though one timer serves them all. */
class AnswerTimeoutsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final ManualTime time = new ManualTime();
  private final AnswerTimeouts timeouts = new AnswerTimeouts(time, TIMEOUT.toNanos());

  private <T> CompletableFuture<T> bound(CompletableFuture<T> answer) {
    return timeouts.bound(answer, () -> new IllegalStateException("too late"));
  }

  @Test
  void whatIsNotAnswered_failsWhenItsOwnTimeIsOver() {
    CompletableFuture<String> first = bound(new CompletableFuture<>());
    time.advance(Duration.ofSeconds(3));
    CompletableFuture<String> second = bound(new CompletableFuture<>());

    time.advance(Duration.ofMillis(1_999));
    assertThat(first).isNotDone();
    time.advance(Duration.ofMillis(1));
    assertThatThrownBy(first::join).hasRootCauseMessage("too late");
    assertThat(second).isNotDone();
    time.advance(Duration.ofSeconds(3));
    assertThatThrownBy(second::join).hasRootCauseMessage("too late");
  }

  @Test
  void errorOfOneThatIsOver_leavesTheOthersTheirTime() {
    timeouts.watch(
        new CompletableFuture<>(),
        () -> {
          throw new StackOverflowError("deep in a callback");
        });
    CompletableFuture<String> second = bound(new CompletableFuture<>());
    time.advance(Duration.ofSeconds(1));
    CompletableFuture<String> third = bound(new CompletableFuture<>());

    assertThatThrownBy(() -> time.advance(TIMEOUT)).isInstanceOf(StackOverflowError.class);
    time.advance(TIMEOUT);

    assertThat(second).isCompletedExceptionally();
    assertThat(third).isCompletedExceptionally();
    assertThat(time.timers()).isZero();
  }

  @Test
  void answersAndFailures_passOn_andTheTimerEndsWithThem() {
    CompletableFuture<String> answer = new CompletableFuture<>();
    CompletableFuture<String> failure = new CompletableFuture<>();
    CompletableFuture<String> answered = bound(answer);
    CompletableFuture<String> failed = bound(failure);

    failure.completeExceptionally(new IllegalStateException("no"));
    answer.complete("yes");

    assertThat(answered).isCompletedWithValue("yes");
    assertThatThrownBy(failed::join).hasRootCauseMessage("no");
    time.advance(TIMEOUT);
    assertThat(time.timers()).isZero();
    assertThat(bound(new CompletableFuture<>())).isNotDone();
    assertThat(time.timers()).isEqualTo(1);
  }

  @Test
  void oneThatIsNotAnswered_doesNotShortenTheTimeOfThoseBehindIt() {
    CompletableFuture<String> silent = bound(new CompletableFuture<>());
    time.advance(Duration.ofSeconds(4));
    CompletableFuture<String> later = new CompletableFuture<>();
    CompletableFuture<String> bounded = bound(later);

    time.advance(Duration.ofSeconds(2));
    later.complete("yes");

    assertThat(silent).isCompletedExceptionally();
    assertThat(bounded).isCompletedWithValue("yes");
  }

  @Test
  void failAll_failsWhatIsOutstanding() {
    CompletableFuture<String> outstanding = bound(new CompletableFuture<>());

    timeouts.failAll(new IllegalStateException("closed"));

    assertThatThrownBy(outstanding::join).hasRootCauseMessage("closed");
  }
}
