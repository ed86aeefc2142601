package io.fenceline.recipes.election;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

/** What the workers have told, and what must hold of it. */
final class Chronicle {
  private record Begin(long term, long at) {}

  private record Belief(long term, long at) {}

  private record End(long term, long at) {}

  private record Write(long term, long before, long after) {}

  private final List<Begin> begins = new ArrayList<>();
  private final List<Belief> beliefs = new ArrayList<>();
  private final List<End> ends = new ArrayList<>();
  private final List<Write> writes = new ArrayList<>();
  private int refused;

  void add(String line) {
    String[] words = line.split(" ");
    switch (words[0]) {
      case "begin" -> begins.add(new Begin(number(words[1]), number(words[2])));
      case "valid" -> beliefs.add(new Belief(number(words[1]), number(words[2])));
      case "end" -> ends.add(new End(number(words[1]), number(words[2])));
      case "wrote" -> writes.add(new Write(number(words[1]), number(words[2]), number(words[3])));
      case "refused" -> refused++;
      default -> {}
    }
  }

  private static long number(String word) {
    return Long.parseLong(word);
  }

  int refused() {
    return refused;
  }

  int terms() {
    return begins.size();
  }

  /** Whether the callback of a term had returned before any later term began. */
  void judgeCallbackOf(long term) {
    long ended =
        ends.stream().filter(end -> end.term == term).mapToLong(End::at).findAny().orElseThrow();
    for (Begin begin : begins) {
      if (begin.term > term) {
        assertThat(ended)
            .as("when the callback of term %d returned, before %d began", term, begin.term)
            .isLessThan(begin.at);
      }
    }
  }

  void judge() {
    begins.sort((a, b) -> Long.compare(a.at, b.at));
    for (int i = 1; i < begins.size(); i++) {
      assertThat(begins.get(i).term).as("terms rise").isGreaterThan(begins.get(i - 1).term);
    }
    for (Begin begin : begins) {
      for (Belief belief : beliefs) {
        if (belief.term < begin.term) {
          assertThat(belief.at)
              .as("when term %d believed to lead, before %d began", belief.term, begin.term)
              .isLessThan(begin.at);
        }
      }
    }
    writes.sort((a, b) -> Long.compare(a.after, b.after));
    long largest = 0;
    long largestAfter = 0;
    for (Write write : writes) {
      if (write.term < largest) {
        // Two writes at the same time may be told in either order.
        assertThat(write.before)
            .as("a write of term %d after one of %d", write.term, largest)
            .isLessThan(largestAfter);
      } else if (write.term > largest) {
        largest = write.term;
        largestAfter = write.after;
      }
    }
    assertThat(writes).isNotEmpty();
    assertThat(beliefs).isNotEmpty();
  }
}
