package io.fenceline.redis.redlock;

import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.Mode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/**
 * Which permits a claim asks for, by number.
 *
 * <p>Majorities bound what excludes each other pairwise, and not sums: with two permits on five
 * nodes, three claims can each find a majority of nodes where fewer than two are taken. So each
 * permit is a slot that one claim holds alone, and k permits are k slots, all or none.
 *
 * @param chosen the slots; empty for what is not permits
 */
record PermitSlots(List<Integer> chosen) {
  /** Each node lists what it has of a name at every request. */
  static final int MOST = 1024;

  static final PermitSlots NONE = new PermitSlots(List.of());

  /** For a first attempt: any, so that claims that know nothing do not meet. */
  static PermitSlots any(Mode mode, RandomGenerator random) {
    return mode instanceof Mode.Permits permits
        ? among(permits, new int[permits.total()], 0, random)
        : NONE;
  }

  /**
   * Slots that few enough nodes know to be taken; {@link #NONE} if there are not as many.
   *
   * @param taken for each slot, at how many nodes it is taken
   * @param most at how many nodes a slot may be taken
   */
  static PermitSlots among(Mode.Permits permits, int[] taken, int most, RandomGenerator random) {
    List<Integer> free = new ArrayList<>();
    for (int slot = 0; slot < permits.total(); slot++) {
      if (taken[slot] <= most) {
        free.add(slot);
      }
    }
    if (free.size() < permits.count()) {
      return NONE;
    }
    Collections.shuffle(free, new Random(random.nextLong()));
    free.sort((a, b) -> Integer.compare(taken[a], taken[b]));
    return new PermitSlots(free.subList(0, permits.count()).stream().sorted().toList());
  }

  static void check(Mode mode) {
    if (mode instanceof Mode.Permits permits && permits.total() > MOST) {
      throw new InvalidSettingException(
          "permits", permits.total(), "a Redlock has at most " + MOST + " permits a name");
    }
  }
}
