package io.fenceline.testbed.pause;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.scenario.StallDetector;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RandomPausesTest {

  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final Duration PAUSE = Duration.ofMillis(300);

  @Test
  void thisJvmStandsStill_andTheDetectorNotices() {
    StallDetector detector = StallDetector.ofThisJvm();
    long start = System.nanoTime();

    try (RandomPauses pauses = RandomPauses.start(PAUSE, Duration.ofMillis(100))) {
      Eventually.until(
          BOUND,
          "a pause to be noticed",
          () -> detector.longestSince(start),
          stall -> stall.compareTo(PAUSE.minusMillis(50)) > 0);
    }
  }

  @Test
  void aStallThatIsOver_isNotOneOfTheTimeAfterIt() {
    StallDetector detector = StallDetector.ofThisJvm();

    // On a busy machine, even two calls in a row may have a stall between them.
    Duration seen =
        Eventually.until(
            BOUND,
            "a moment without a stall",
            () -> detector.longestSince(System.nanoTime()),
            Duration::isZero);

    assertThat(seen).isZero();
  }
}
