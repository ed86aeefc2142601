package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.Mode;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Which permits a claim asks for; no server takes part. */
class PermitSlotsTest {
  private static final Mode.Permits TWO_OF_FIVE = (Mode.Permits) Mode.permits(2, 5);

  private final RandomGenerator random = new Random(25);

  @Test
  void lock_hasNoSlots() {
    assertThat(PermitSlots.any(Mode.EXCLUSIVE, random)).isEqualTo(PermitSlots.NONE);
    assertThat(PermitSlots.any(Mode.SHARED, random)).isEqualTo(PermitSlots.NONE);
  }

  @Test
  void firstAttempt_asksForAsManyAsItNeeds_eachOnce_inOrder() {
    for (int i = 0; i < 100; i++) {
      assertThat(PermitSlots.any(TWO_OF_FIVE, random).chosen())
          .hasSize(2)
          .doesNotHaveDuplicates()
          .isSorted()
          .allMatch(slot -> slot >= 0 && slot < 5);
    }
  }

  @Test
  void nextAttempt_takesTheSlotsThatFewestNodesKnowToBeTaken() {
    int[] taken = {3, 0, 2, 0, 1};
    assertThat(PermitSlots.among(TWO_OF_FIVE, taken, 2, random).chosen()).containsExactly(1, 3);
  }

  @Test
  void slotThatTooManyNodesKnowToBeTaken_isNotAskedFor() {
    int[] taken = {3, 3, 3, 2, 0};
    assertThat(PermitSlots.among(TWO_OF_FIVE, taken, 2, random).chosen()).containsExactly(3, 4);
    assertThat(PermitSlots.among(TWO_OF_FIVE, taken, 1, random)).isEqualTo(PermitSlots.NONE);
  }

  @Test
  void moreThanANodeCanList_isRefused() {
    PermitSlots.check(Mode.permits(1, PermitSlots.MOST));
    assertThatThrownBy(() -> PermitSlots.check(Mode.permits(1, PermitSlots.MOST + 1)))
        .isInstanceOf(InvalidSettingException.class);
  }
}
