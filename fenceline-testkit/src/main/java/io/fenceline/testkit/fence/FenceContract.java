package io.fenceline.testkit.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.FenceEvent;
import io.fenceline.fence.FenceListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * What every fence must do. A fence joins by extending this class with a cell behind it:
 *
 * <pre>{@code
 * class MemoryFenceContractTest extends FenceContract {
 *   @Override
 *   protected FencedCell cell(String name, FenceListener listener) {
 *     MemoryFence fence = new MemoryFence(100, listener);
 *     return new FencedCell() {
 *       private String value = "";
 *
 *       public synchronized void write(String next, FencingToken token) {
 *         fence.check(name, token);
 *         value = next;
 *       }
 *
 *       public synchronized String read() {
 *         return value;
 *       }
 *     };
 *   }
 * }
 * }</pre>
 */
public abstract class FenceContract {
  private static final int WRITERS = 16;
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final List<FenceEvent> events = new CopyOnWriteArrayList<>();
  private final String name = "cell-" + NAMES.incrementAndGet();

  /** A subclass has a constructor without arguments. */
  protected FenceContract() {}

  /** A new cell that nothing was written to yet; its fence tells the listener. */
  protected abstract FencedCell cell(String name, FenceListener listener);

  /** Whether the fence takes shared tokens. */
  protected boolean takesShared() {
    return true;
  }

  /** How many tokens each of the sixteen writers has. */
  protected int tokensPerWriter() {
    return 20;
  }

  private FencedCell cell() {
    return cell(name, events::add);
  }

  private static FencingToken writer(long token) {
    return FencingToken.exclusive(token);
  }

  private static FencingToken reader(long token) {
    return FencingToken.shared(token);
  }

  @Test
  void overtakenWriter_isRefused_withBothTokens_andTheDataIsIntact() {
    FencedCell cell = cell();
    cell.write("of 34", writer(34));

    StaleTokenException stale =
        catchThrowableOfType(StaleTokenException.class, () -> cell.write("of 33", writer(33)));

    assertThat(stale).isNotNull();
    assertThat(stale.offered()).isEqualTo(33);
    assertThat(stale.accepted()).isEqualTo(34);
    assertThat(stale).hasMessageContaining(stale.resource()).hasMessageContaining("tokenBase");
    assertThat(cell.read()).isEqualTo("of 34");
  }

  @Test
  void sameToken_passesAgain_andALargerOne() {
    FencedCell cell = cell();
    cell.write("first", writer(34));
    cell.write("second", writer(34));
    assertThat(cell.read()).isEqualTo("second");

    cell.write("third", writer(35));

    assertThat(cell.read()).isEqualTo("third");
  }

  @Test
  void tokensOfAllSizes_areComparedExactly() {
    FencedCell cell = cell();
    // Neighbours that are one and the same to whoever computes with 53 bits, and changes of width.
    long[] rising = {
      9,
      10,
      999_999_999,
      1_000_000_000,
      (1L << 53) - 1,
      1L << 53,
      (1L << 53) + 1,
      (1L << 62) + 1,
      Long.MAX_VALUE - 1,
      Long.MAX_VALUE
    };
    for (int i = 0; i < rising.length; i++) {
      cell.write("at " + rising[i], writer(rising[i]));
      if (i > 0) {
        FencingToken stale = writer(rising[i - 1]);
        assertThatThrownBy(() -> cell.write("stale", stale))
            .as("%s after %d", stale, rising[i])
            .isInstanceOf(StaleTokenException.class);
      }
    }

    assertThat(cell.read()).isEqualTo("at " + Long.MAX_VALUE);
  }

  @Test
  void readers_mayOvertakeEachOther_butNotAWriter_andNoWriterThem() {
    FencedCell cell = cell();
    if (!takesShared()) {
      assertThatThrownBy(() -> cell.write("shared", reader(40)))
          .isInstanceOf(IllegalArgumentException.class);
      return;
    }
    cell.write("of 40", reader(40));
    cell.write("of 38", reader(38));
    assertThatThrownBy(() -> cell.write("of 39", writer(39)))
        .isInstanceOf(StaleTokenException.class);
    cell.write("of 41", writer(41));

    assertThatThrownBy(() -> cell.write("of 40 again", reader(40)))
        .isInstanceOf(StaleTokenException.class);
    assertThat(cell.read()).isEqualTo("of 41");
    cell.write("of 42", reader(42));
    assertThat(cell.read()).isEqualTo("of 42");
  }

  @Test
  void refusedWriter_changesNoMark() {
    if (!takesShared()) {
      return;
    }
    FencedCell cell = cell();
    cell.write("of 30", writer(30));
    cell.write("of 40", reader(40));
    assertThatThrownBy(() -> cell.write("of 35", writer(35)))
        .isInstanceOf(StaleTokenException.class);

    cell.write("of 33", reader(33)); // Were 35 remembered, it would be refused.

    assertThat(cell.read()).isEqualTo("of 33");
  }

  @Test
  void verdicts_areEvents() {
    FencedCell cell = cell();
    cell.write("of 34", writer(34));
    assertThatThrownBy(() -> cell.write("of 33", writer(33)))
        .isInstanceOf(StaleTokenException.class);

    assertThat(events).hasSize(2);
    assertThat(events.get(0))
        .isInstanceOfSatisfying(
            FenceEvent.Accepted.class,
            accepted -> assertThat(accepted.token()).isEqualTo(writer(34)));
    assertThat(events.get(1))
        .isInstanceOfSatisfying(
            FenceEvent.Refused.class,
            refused -> {
              assertThat(refused.token()).isEqualTo(writer(33));
              assertThat(refused.accepted()).isEqualTo(34);
              assertThat(refused.resource()).isEqualTo(events.get(0).resource());
            });
  }

  @Test
  void sixteenWritersInAnyOrder_neverGoBack() {
    FencedCell cell = cell();

    FenceHistory history = FenceHistory.of(cell, WRITERS, tokensPerWriter(), 7);

    assertThat(history.violations()).isEmpty();
    assertThat(history.writes()).hasSize(WRITERS * tokensPerWriter());
    assertThat(history.largestAccepted()).isEqualTo((long) WRITERS * tokensPerWriter());
    assertThat(cell.read()).isEqualTo(Long.toString(history.largestAccepted()));
    assertThat(history.accepted()).isLessThan(history.writes().size());
  }
}
