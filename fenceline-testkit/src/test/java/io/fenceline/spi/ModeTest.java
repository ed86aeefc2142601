package io.fenceline.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What fits beside what, also where the numbers are large. */
class ModeTest {
  private static final int ALL = Integer.MAX_VALUE;

  @Test
  void permitsOfALargeSemaphore_areCountedWithoutOverflow() {
    Mode all = Mode.permits(ALL, ALL);

    assertThat(all.fitsBeside(List.of())).isTrue();
    assertThat(all.fitsBeside(List.of(all))).isFalse();
    assertThat(Mode.permits(2, ALL).fitsBeside(List.of(all, all))).isFalse();
    assertThat(Mode.permits(1, ALL).fitsBeside(List.of(Mode.permits(ALL - 1, ALL)))).isTrue();
  }
}
