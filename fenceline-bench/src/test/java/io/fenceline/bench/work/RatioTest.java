package io.fenceline.bench.work;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class RatioTest {
  @Test
  void ratioIsTakenWithinRounds_soThatASlowSpellOfTheMachineDoesNotCount() {
    // Of the medians, it would be a half.
    Ratio ratio = Ratio.of(List.of(100.0, 20.0, 30.0), List.of(100.0, 10.0, 60.0));

    assertThat(ratio.median()).isEqualTo(1);
  }

  @Test
  void intervalOfAHundredRounds_goesFromTheFortiethToTheSixtyFirst() {
    List<Double> ours =
        new ArrayList<>(DoubleStream.iterate(1, i -> i + 1).limit(100).boxed().toList());
    Collections.shuffle(ours, new Random(1));

    Ratio ratio = Ratio.of(ours, Collections.nCopies(100, 1.0));

    assertThat(ratio).isEqualTo(new Ratio(50.5, 40, 61)); // As in tables of the sign test.
  }

  @Test
  void intervalOfFewRounds_isAllThatWasSeen() {
    Ratio ratio = Ratio.of(List.of(3.0, 1.0, 2.0), List.of(1.0, 1.0, 1.0));

    assertThat(ratio).isEqualTo(new Ratio(2, 1, 3));
  }
}
