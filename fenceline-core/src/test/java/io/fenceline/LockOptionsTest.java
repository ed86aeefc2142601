package io.fenceline;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.settings.WaitStrategy;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Options are values: equal when all of their settings are, each of which their text shows. */
class LockOptionsTest {
  private static final Duration SOME = Duration.ofSeconds(7);

  /** Each differs from the defaults, and from all others, by one setting. */
  private static final List<Supplier<LockOptions>> CHANGED =
      List.of(
          LockOptions::defaults,
          () -> LockOptions.defaults().lease(SOME),
          () -> LockOptions.defaults().fixedLease(SOME),
          () -> LockOptions.defaults().maxHold(SOME),
          () -> LockOptions.defaults().waiting(WaitStrategy.retry(2, SOME, Duration.ZERO)),
          () -> LockOptions.defaults().interruptOnLoss(),
          () -> LockOptions.defaults().lockDelay(SOME),
          () -> LockOptions.defaults().keepAtLeast(SOME),
          () -> LockOptions.defaults().leakTrace(),
          () -> LockOptions.defaults().warnAfter(SOME));

  private static long settings() {
    return Arrays.stream(LockOptions.class.getDeclaredMethods())
        .filter(method -> Modifier.isPublic(method.getModifiers()))
        .filter(method -> method.getReturnType() == LockOptions.class)
        .count();
  }

  @Test
  void optionsOfTheSameSettings_areEqual_andNoOthers() {
    assertThat(CHANGED).hasSize((int) settings());
    assertThat(LockOptions.defaults().toString()).contains("lease=30s", "waiting=FAIR_QUEUE");
    for (Supplier<LockOptions> one : CHANGED) {
      for (Supplier<LockOptions> other : CHANGED) {
        boolean same = one == other;
        assertThat(one.get().equals(other.get())).isEqualTo(same);
        assertThat(one.get().toString().equals(other.get().toString())).isEqualTo(same);
      }
      assertThat(one.get()).hasSameHashCodeAs(one.get());
    }
  }
}
