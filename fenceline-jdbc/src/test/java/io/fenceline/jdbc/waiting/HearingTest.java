package io.fenceline.jdbc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which claims may rely on being told. */
class HearingTest {
  private final Hearing hearing = new Hearing();

  @Test
  void claimThatJoinedBefore_isNotCovered() {
    assertThat(hearing.watch()).isNull();
    hearing.opened();
    assertThat(hearing.watch()).isNotNull();
  }

  @Test
  void claimThatJoinedWhileItHeard_isCovered_untilItHearsNoMore() {
    hearing.opened();
    ArmedBell watch = hearing.watch();
    assertThat(hearing.covers(watch)).isTrue();

    assertThat(hearing.closed()).isTrue();
    assertThat(hearing.covers(watch)).isFalse();
    assertThat(hearing.closed()).isFalse();
  }

  /** What was told in between is lost. */
  @Test
  void connectingAnew_coversNothingOfBefore() {
    hearing.opened();
    ArmedBell watch = hearing.watch();
    hearing.closed();
    hearing.opened();

    assertThat(hearing.covers(watch)).isFalse();
    assertThat(hearing.covers(hearing.watch())).isTrue();
  }

  @Test
  void inDoubt_nothingIsCovered_untilSomethingIsHeard() {
    hearing.opened();
    ArmedBell watch = hearing.watch();

    hearing.doubt();
    assertThat(hearing.isReliable()).isFalse();
    assertThat(hearing.covers(watch)).isFalse();
    assertThat(hearing.watch()).isNull();

    hearing.heard();
    assertThat(hearing.isReliable()).isTrue();
  }
}
