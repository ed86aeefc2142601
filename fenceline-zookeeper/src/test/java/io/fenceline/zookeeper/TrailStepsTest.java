package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which numbers count; what a server does is in {@link TrailTest}. */
class TrailStepsTest {
  private static Trail watched() {
    Trail trail = new Trail("/name", true);
    trail.guard();
    return trail;
  }

  /** A claim that has had the name with this number, and gave it back. */
  private static void passed(Trail trail, int number) {
    Trail.Step step = trail.step();
    trail.made(step, number);
    step.gone();
  }

  @Test
  void theNumberAfterTheLastThatIsGone_isAlone() {
    Trail trail = watched();
    Trail.Step first = trail.step();
    assertThat(first.isGuess).isFalse();
    assertThat(trail.made(first, 0)).isFalse(); // Of what was before the watch, nothing is known.
    first.gone();
    Trail.Step second = trail.step();
    assertThat(second.isGuess).isTrue();
    assertThat(trail.made(second, 1)).isTrue();
  }

  @Test
  void ourOwnNodes_standInTheWayUntilTheyAreGone() {
    Trail trail = watched();
    passed(trail, 7);
    Trail.Step held = trail.step();
    Trail.Step meanwhile = trail.step();
    assertThat(held.isGuess).isTrue();
    assertThat(meanwhile.isGuess).isFalse();
    assertThat(trail.made(held, 8)).isTrue();
    assertThat(trail.made(meanwhile, 9)).isFalse();
    held.gone();
    Trail.Step behind = trail.step();
    assertThat(behind.isGuess).isFalse();
    assertThat(trail.made(behind, 10)).isFalse();
    meanwhile.gone();
    behind.gone();
    assertThat(trail.step().isGuess).isTrue();
  }

  @Test
  void numberThatIsNotOurs_isMet_andNotGuessedAtForAWhile() {
    Trail trail = watched();
    passed(trail, 7);
    Trail.Step wrong = trail.step();
    assertThat(wrong.isGuess).isTrue();
    assertThat(trail.made(wrong, 9)).isFalse();
    wrong.gone();
    for (int number = 10; number < 14; number++) {
      Trail.Step step = trail.step();
      assertThat(step.isGuess).isFalse();
      assertThat(trail.made(step, number)).isTrue();
      step.gone();
    }
    assertThat(trail.step().isGuess).isTrue();
  }

  @Test
  void creationThatFailed_doesNotKeepTheNextOneFromGuessing() {
    Trail trail = watched();
    passed(trail, 7);
    trail.step();
    trail.failed();
    assertThat(trail.step().isGuess).isTrue();
  }

  @Test
  void trailThatHasEnded_orIsNotGuarded_provesNothing() {
    Trail ended = watched();
    passed(ended, 7);
    assertThat(ended.isProof()).isTrue();
    ended.end();
    assertThat(ended.isProof()).isFalse();
    assertThat(ended.step().isGuess).isFalse();

    Trail unguarded = new Trail("/name", true);
    passed(unguarded, 7);
    assertThat(unguarded.isProof()).isFalse();
    assertThat(unguarded.step().isGuess).isFalse();
  }

  @Test
  void numbersNearTheirEnd_doNotCount() {
    Trail trail = watched();
    int last = Integer.MAX_VALUE - (1 << 20);
    passed(trail, last);
    assertThat(trail.made(trail.step(), last + 1)).isFalse();
    Trail beyond = watched();
    passed(beyond, Integer.MAX_VALUE);
    assertThat(beyond.made(beyond.step(), Integer.MAX_VALUE)).isFalse();
    assertThat(beyond.made(beyond.step(), Integer.MIN_VALUE)).isFalse();
    assertThat(beyond.step().isGuess).isFalse();
  }
}
