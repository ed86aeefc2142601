package io.fenceline.zookeeper.claim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which numbers count; what a server does is in {@code FastPathWireTest}. */
class FastPathTest {
  private static FastPath.Name watched() {
    FastPath.Name name = new FastPath.Name("/name", true);
    name.guard();
    return name;
  }

  /** A claim that has had the name with this number, and gave it back. */
  private static void passed(FastPath.Name name, int number) {
    FastPath.Attempt step = name.attempt(null);
    name.created(step, number);
    step.released();
  }

  @Test
  void theNumberAfterTheLastThatIsGone_isAlone() {
    FastPath.Name name = watched();
    FastPath.Attempt first = name.attempt(null);
    assertThat(first.skipsList()).isFalse();
    assertThat(name.created(first, 0)).isFalse(); // Of what was before the watch, nothing is known.
    first.released();
    FastPath.Attempt second = name.attempt(null);
    assertThat(second.skipsList()).isTrue();
    assertThat(name.created(second, 1)).isTrue();
  }

  @Test
  void ourOwnNodes_standInTheWayUntilTheyAreGone() {
    FastPath.Name name = watched();
    passed(name, 7);
    FastPath.Attempt held = name.attempt(null);
    FastPath.Attempt meanwhile = name.attempt(null);
    assertThat(held.skipsList()).isTrue();
    assertThat(meanwhile.skipsList()).isFalse();
    assertThat(name.created(held, 8)).isTrue();
    assertThat(name.created(meanwhile, 9)).isFalse();
    held.released();
    FastPath.Attempt behind = name.attempt(null);
    assertThat(behind.skipsList()).isFalse();
    assertThat(name.created(behind, 10)).isFalse();
    meanwhile.released();
    behind.released();
    assertThat(name.attempt(null).skipsList()).isTrue();
  }

  @Test
  void numberThatIsNotOurs_isMet_andNotGuessedAtForAWhile() {
    FastPath.Name name = watched();
    passed(name, 7);
    FastPath.Attempt wrong = name.attempt(null);
    assertThat(wrong.skipsList()).isTrue();
    assertThat(name.created(wrong, 9)).isFalse();
    wrong.released();
    for (int number = 10; number < 14; number++) {
      FastPath.Attempt step = name.attempt(null);
      assertThat(step.skipsList()).isFalse();
      assertThat(name.created(step, number)).isTrue();
      step.released();
    }
    assertThat(name.attempt(null).skipsList()).isTrue();
  }

  @Test
  void creationThatFailed_doesNotKeepTheNextOneFromGuessing() {
    FastPath.Name name = watched();
    passed(name, 7);
    name.attempt(null);
    name.failed();
    assertThat(name.attempt(null).skipsList()).isTrue();
  }

  @Test
  void nameThatHasEnded_orIsNotGuarded_provesNothing() {
    FastPath.Name ended = watched();
    passed(ended, 7);
    assertThat(ended.isProof()).isTrue();
    ended.end();
    assertThat(ended.isProof()).isFalse();
    assertThat(ended.attempt(null).skipsList()).isFalse();

    FastPath.Name unguarded = new FastPath.Name("/name", true);
    passed(unguarded, 7);
    assertThat(unguarded.isProof()).isFalse();
    assertThat(unguarded.attempt(null).skipsList()).isFalse();
  }

  @Test
  void numbersNearTheirEnd_doNotCount() {
    FastPath.Name name = watched();
    int last = Integer.MAX_VALUE - (1 << 20);
    passed(name, last);
    assertThat(name.created(name.attempt(null), last + 1)).isFalse();
    FastPath.Name beyond = watched();
    passed(beyond, Integer.MAX_VALUE);
    assertThat(beyond.created(beyond.attempt(null), Integer.MAX_VALUE)).isFalse();
    assertThat(beyond.created(beyond.attempt(null), Integer.MIN_VALUE)).isFalse();
    assertThat(beyond.attempt(null).skipsList()).isFalse();
  }
}
