package io.fenceline.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.settings.InvalidSettingException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** What a fence lets pass and what it refuses. */
class MemoryFenceTest {
  private final MemoryFence fence = new MemoryFence();

  private static FencingToken writer(long token) {
    return FencingToken.exclusive(token);
  }

  private static FencingToken reader(long token) {
    return FencingToken.shared(token);
  }

  @Test
  void overtakenWriter_isRefused_withBothTokens() {
    fence.check("ledger", writer(34));

    StaleTokenException stale =
        catchThrowableOfType(StaleTokenException.class, () -> fence.check("ledger", writer(33)));

    assertThat(stale.resource()).isEqualTo("ledger");
    assertThat(stale.offered()).isEqualTo(33);
    assertThat(stale.accepted()).isEqualTo(34);
    assertThat(stale).hasMessageContaining("'ledger'").hasMessageContaining("tokenBase");
  }

  @Test
  void sameToken_passesAgain() {
    fence.check("ledger", writer(34));

    assertThatCode(() -> fence.check("ledger", writer(34))).doesNotThrowAnyException();
  }

  @Test
  void readers_mayOvertakeEachOther_butNotAWriter() {
    fence.check("ledger", reader(40));
    fence.check("ledger", reader(38));
    fence.check("ledger", writer(41));

    assertThatThrownBy(() -> fence.check("ledger", reader(40)))
        .isInstanceOf(StaleTokenException.class);
  }

  @Test
  void writer_thatALaterReaderHasOvertaken_isRefused() {
    fence.check("ledger", reader(40));

    assertThatThrownBy(() -> fence.check("ledger", writer(39)))
        .isInstanceOf(StaleTokenException.class);
  }

  @Test
  void resources_doNotMindEachOther() {
    fence.check("ledger", writer(40));

    assertThatCode(() -> fence.check("stock", writer(1))).doesNotThrowAnyException();
  }

  @Test
  void forgetting_neverLetsAStaleTokenPass() {
    MemoryFence small = new MemoryFence(1);
    small.check("ledger", writer(40));
    small.check("stock", writer(50));

    assertThatThrownBy(() -> small.check("ledger", writer(39)))
        .isInstanceOf(StaleTokenException.class);
    assertThatCode(() -> small.check("ledger", writer(41))).doesNotThrowAnyException();
  }

  @Test
  void fenceForNoResource_isRefused() {
    assertThatThrownBy(() -> new MemoryFence(0)).isInstanceOf(InvalidSettingException.class);
  }

  @Test
  void sixteenWritersInAnyOrder_neverGoBack() throws Exception {
    List<Long> tokens = new ArrayList<>();
    for (long token = 1; token <= 4_000; token++) {
      tokens.add(token);
    }
    Collections.shuffle(tokens, new Random(7));
    List<Long> accepted = new ArrayList<>();
    Object data = new Object();
    ExecutorService writers = Executors.newFixedThreadPool(16);
    List<Future<?>> done = new ArrayList<>();
    for (long token : tokens) {
      done.add(
          writers.submit(
              () -> {
                synchronized (data) { // The check and the write are one step.
                  try {
                    fence.check("ledger", writer(token));
                    accepted.add(token);
                  } catch (StaleTokenException e) {
                    assertThat(token).isLessThan(e.accepted());
                  }
                }
              }));
    }
    for (Future<?> each : done) {
      each.get();
    }
    writers.shutdown();

    assertThat(accepted).isSorted();
    assertThat(accepted.get(accepted.size() - 1)).isEqualTo(4_000);
  }
}
