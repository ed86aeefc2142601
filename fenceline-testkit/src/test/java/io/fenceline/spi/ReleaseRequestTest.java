package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** For how long a release that is sent again keeps the name closed. */
class ReleaseRequestTest {
  private static ReleaseRequest release(Duration keepClosed) {
    Owner owner = Owner.draw(new SecureRandom());
    ClaimRequest claim =
        new ClaimRequest(
            "nightly", owner, Mode.EXCLUSIVE, Duration.ofSeconds(10), Duration.ZERO, true);
    return new ReleaseRequest(new HeldGrant(claim, 1), keepClosed);
  }

  /** Stores drop what is less than a millisecond: a part of one is left whole. */
  @ParameterizedTest
  @CsvSource({
    "0, 1000",
    "-1000000, 1000",
    "1, 1000",
    "999999, 1000",
    "1000000, 999",
    "1999999, 999",
    "999999999, 1",
    "1000000000, 0",
    "5000000000, 0"
  })
  void laterByNanos_keepsTheNameClosedForMillis(long nanos, long millis) {
    assertThat(release(Duration.ofSeconds(1)).after(nanos).keepClosed())
        .isEqualTo(Duration.ofMillis(millis));
  }

  @Test
  void releaseThatOpensTheName_staysOne() {
    assertThat(release(Duration.ZERO).after(1_000_000).keepClosed()).isZero();
  }
}
