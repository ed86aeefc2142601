package io.fenceline.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.time.Moment;
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

  private static void answered(SessionProof proof, long sent, long answered) {
    proof.answered(at(sent), answered * MILLI, TIMEOUT * MILLI);
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
    answered(proof, 400, 410);
    assertThat(end(proof, 410)).isEqualTo(990);
  }

  @Test
  void writeATickAfterTheAnswerOfAnother_provesTheOther() {
    SessionProof proof = born(0);
    answered(proof, 400, 410);
    answered(proof, 509, 515); // Sent 99 after the answer: no ping need have been between.
    assertThat(end(proof, 515)).isEqualTo(990);
    answered(proof, 510, 516);
    assertThat(end(proof, 516)).isEqualTo(1_390);
  }

  @Test
  void lateHeartbeat_provesNoMoreThanTheOneBeforeIt() {
    SessionProof proof = born(0);
    answered(proof, 100, 101);
    answered(proof, 900, 901); // The client stood still.
    // Not 900 + timeout − interval − tick; nor 100 + timeout: the leader may have stood still, too.
    assertThat(end(proof, 901)).isEqualTo(990);
    answered(proof, 1_001, 1_002);
    assertThat(end(proof, 1_002)).isEqualTo(1_890);
  }

  @Test
  void writeThatALeaderAnswersAfterAPause_provesNothingOfTheTimeBefore() {
    SessionProof proof = born(0);
    answered(proof, 150, 151);
    answered(proof, 300, 301);
    assertThat(end(proof, 301)).isEqualTo(1_140);
    // The leader stood still from 302 to 1,050, before it has pinged: it knows of 150, not of 300.
    answered(proof, 450, 1_051);
    assertThat(end(proof, 1_051)).isEqualTo(1_140);
    // It runs: a tick later it has pinged.
    answered(proof, 1_151, 1_152);
    assertThat(end(proof, 1_152)).isEqualTo(1_440);
  }

  @Test
  void silenceOfHalfATimeout_isTheLongest() {
    SessionProof proof = born(0);
    answered(proof, 100, 100);
    answered(proof, 590, 600);
    assertThat(end(proof, 600)).isEqualTo(1_090);
    answered(proof, 1_090, 1_101);
    assertThat(end(proof, 1_101)).isEqualTo(1_090);
  }

  @Test
  void sessionOfTwoTicks_isProvenByRegularHeartbeats() {
    SessionProof proof = new SessionProof(at(0), TIMEOUT / 2 * MILLI);
    for (long sent = 10; sent < 5_000; sent += TIMEOUT / Heartbeat.SHARE) {
      answered(proof, sent, sent + 1);
      assertThat(end(proof, sent + 1)).isGreaterThan(sent + 200);
    }
  }

  @Test
  void regularHeartbeats_neverProveLessThanTimeoutLessIntervalLessTick() {
    SessionProof proof = born(0);
    long interval = TIMEOUT / Heartbeat.SHARE;
    for (long sent = 10; sent < 5_000; sent += interval) {
      answered(proof, sent, sent + 1);
      if (sent > 500) {
        assertThat(end(proof, sent)).isGreaterThan(sent + TIMEOUT - interval - TICK - 12);
      }
    }
  }

  @Test
  void sessionOfUnknownAge_isProvenByTwoWrites() {
    SessionProof proof = new SessionProof(null, TICK * MILLI);
    assertThat(proof.remainingNanos(at(5), TIMEOUT * MILLI)).isZero();
    answered(proof, 10, 11);
    assertThat(proof.remainingNanos(at(11), TIMEOUT * MILLI)).isZero();
    assertThat(proof.nanosToNextProof(51 * MILLI)).isEqualTo(60 * MILLI);
    answered(proof, 111, 112);
    assertThat(end(proof, 112)).isEqualTo(1_000);
  }

  @Test
  void machineThatSlept_isCountedByTheWallClock() {
    SessionProof proof = born(0);
    assertThat(proof.remainingNanos(new Moment(100 * MILLI, 900), TIMEOUT * MILLI))
        .isEqualTo(90 * MILLI);
  }
}
