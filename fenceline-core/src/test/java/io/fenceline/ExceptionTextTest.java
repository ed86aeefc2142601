package io.fenceline;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What a server says, or someone has put into the store, ends up in messages, and these in logs.
 */
class ExceptionTextTest {
  private static final String EVIL =
      "the key 'x\u001b]0;owned\u0007\r\nWARN Lock lost\u009b31m\u202e' is foreign";

  @Test
  void nothingInAMessage_steersATerminalOrBeginsALine() {
    List<FencelineException> all =
        List.of(
            new StoreRefusedException(EVIL, null),
            new StoreUnavailableException("redis://cache", EVIL, null),
            new StaleTokenException(EVIL, FencingToken.exclusive(1), 2),
            new LockTimeoutException(
                "ledger", Duration.ZERO, Duration.ZERO, EVIL, 1L, Duration.ZERO, null, "memory:"));
    assertThat(all)
        .allSatisfy(
            e ->
                assertThat(e.getMessage())
                    .contains("WARN Lock lost")
                    .matches("[^\\p{Cc}\\p{Cf}\\u2028\\u2029]*"));
  }
}
