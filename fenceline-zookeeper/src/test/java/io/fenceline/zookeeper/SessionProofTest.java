package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.Moment;
import org.junit.jupiter.api.Test;

/** What answered writes prove, in milliseconds: a timeout of 1,000, a tick of 100, 1 % of drift. */
class SessionProofTest {
  private static final long MILLI = 1_000_000;
  private static final long TICK = 100;
  private static final long TIMEOUT = 1_000;

  private static Moment at(long millis) {
    return new Moment(millis * MILLI, millis);
  }

  private static SessionProof born(long millis) {
    return new SessionProof(at(millis), TICK * MILLI);
  }

  /** When the session may be over, as far as is proven. */
  private static long end(SessionProof proof, long now) {
    return now + proof.remainingNanos(at(now), TIMEOUT * MILLI) / MILLI;
  }

  @Test
  void newSession_livesFromBeforeItsStart() {
    SessionProof proof = born(500);
    assertThat(end(proof, 600)).isEqualTo(1_490);
  }

  @Test
  void write_provesNothingByItself() {
    SessionProof proof = born(0);
    proof.answered(at(400), 410 * MILLI);
    assertThat(end(proof, 410)).isEqualTo(990);
  }

  @Test
  void writeATickAfterTheAnswerOfAnother_provesTheOther() {
    SessionProof proof = born(0);
    proof.answered(at(400), 410 * MILLI);
    proof.answered(
        at(509), 515 * MILLI); // Sent 99 after the answer: no ping need have been between.
    assertThat(end(proof, 515)).isEqualTo(990);
    proof.answered(at(510), 516 * MILLI);
    assertThat(end(proof, 516)).isEqualTo(1_390);
  }

  @Test
  void lateHeartbeat_provesNoMoreThanTheOneBeforeIt() {
    SessionProof proof = born(0);
    proof.answered(at(100), 101 * MILLI);
    proof.answered(at(900), 901 * MILLI); // The client stood still.
    assertThat(end(proof, 901)).isEqualTo(1_090); // Not 900 + timeout − interval − tick.
  }

  @Test
  void regularHeartbeats_neverProveLessThanTimeoutLessIntervalLessTick() {
    SessionProof proof = born(0);
    long interval = TIMEOUT / Heartbeat.SHARE;
    for (long sent = 10; sent < 5_000; sent += interval) {
      proof.answered(at(sent), (sent + 1) * MILLI);
      if (sent > 500) {
        assertThat(end(proof, sent)).isGreaterThan(sent + TIMEOUT - interval - TICK - 12);
      }
    }
  }

  @Test
  void sessionOfUnknownAge_isProvenByTwoWrites() {
    SessionProof proof = new SessionProof(null, TICK * MILLI);
    assertThat(proof.remainingNanos(at(5), TIMEOUT * MILLI)).isZero();
    proof.answered(at(10), 11 * MILLI);
    assertThat(proof.remainingNanos(at(11), TIMEOUT * MILLI)).isZero();
    assertThat(proof.nanosToNextProof(51 * MILLI)).isEqualTo(60 * MILLI);
    proof.answered(at(111), 112 * MILLI);
    assertThat(end(proof, 112)).isEqualTo(1_000);
  }

  @Test
  void machineThatSlept_isCountedByTheWallClock() {
    SessionProof proof = born(0);
    assertThat(proof.remainingNanos(new Moment(100 * MILLI, 900), TIMEOUT * MILLI))
        .isEqualTo(90 * MILLI);
  }
}
