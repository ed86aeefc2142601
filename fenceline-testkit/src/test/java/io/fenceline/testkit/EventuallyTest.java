package io.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EventuallyTest {

  @Test
  void looksUntilTheValueIsAccepted_andReturnsIt() {
    AtomicInteger looks = new AtomicInteger();

    int seen =
        Eventually.until(
            Duration.ofSeconds(5), "three looks", looks::incrementAndGet, count -> count == 3);

    assertThat(seen).isEqualTo(3);
  }

  @Test
  void inVain_saysWhatWasAwaitedAndWhatWasSeenLast() {
    assertThatThrownBy(
            () ->
                Eventually.until(Duration.ofMillis(20), "spring", () -> "winter", "spring"::equals))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Waited PT0.02S for spring, in vain")
        .hasMessageContaining("lastSeen=winter");
  }

  @Test
  void aLookThatThrows_isNotYet_andBecomesTheCause() {
    AtomicInteger looks = new AtomicInteger();
    Eventually.until(
        Duration.ofSeconds(5),
        "a look without an exception",
        () -> {
          if (looks.incrementAndGet() < 3) {
            throw new IllegalStateException("too early");
          }
          return true;
        });

    assertThatThrownBy(
            () ->
                Eventually.until(
                    Duration.ofMillis(20),
                    "what never comes",
                    () -> {
                      throw new IllegalStateException("too early");
                    }))
        .hasMessageContaining("too early")
        .hasCauseInstanceOf(IllegalStateException.class);
  }
}
