package io.fenceline.testkit.fence;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.FencingToken;
import io.fenceline.fence.MemoryFence;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The race of sixteen writers notices a fence that does not work. */
class FenceHistoryTest {

  @Test
  void resourceWithoutAFence_isNoticed() {
    AtomicReference<String> value = new AtomicReference<>("");
    FencedCell open =
        new FencedCell() {
          @Override
          public void write(String next, FencingToken token) {
            value.set(next);
          }

          @Override
          public String read() {
            return value.get();
          }
        };

    assertThat(FenceHistory.of(open, 16, 20, 7).violations()).isNotEmpty();
  }

  @Test
  void fenceThatForgets_isNoticed() {
    AtomicReference<String> value = new AtomicReference<>("");
    FencedCell forgetful =
        new FencedCell() {
          private MemoryFence fence = new MemoryFence();
          private int writes;

          @Override
          public synchronized void write(String next, FencingToken token) {
            if (++writes % 50 == 0) {
              fence = new MemoryFence();
            }
            fence.check("cell", token);
            value.set(next);
          }

          @Override
          public String read() {
            return value.get();
          }
        };

    assertThat(FenceHistory.of(forgetful, 16, 20, 7).violations()).isNotEmpty();
  }
}
