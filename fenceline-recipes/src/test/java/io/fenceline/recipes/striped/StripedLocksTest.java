package io.fenceline.recipes.striped;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.MultiHold;
import io.fenceline.StoreRefusedException;
import io.fenceline.recipes.TestStore;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Stripes on every store. */
@Execution(ExecutionMode.CONCURRENT)
class StripedLocksTest {
  private static final Duration AMPLE = Duration.ofMinutes(2);
  private static final LockOptions OPTIONS = LockOptions.defaults().lease(TestStore.LEASE);

  /** As {@code printf key | sha256sum} and a calculator have it, and so every program has. */
  @Test
  void stripe_isTheSameEverywhere() {
    try (Fenceline fenceline = Fenceline.connect("memory:golden");
        StripedLocks stripes = StripedLocks.of(fenceline, "golden", 16);
        StripedLocks many = StripedLocks.of(fenceline, "many", 1_000)) {
      assertThat(stripes.stripeOf("account-42")).isEqualTo(5);
      assertThat(many.stripeOf("account-42")).isEqualTo(485);
      assertThat(many.stripeOf("帳戶")).isEqualTo(573);
      assertThat(many.lockName("account-42")).isEqualTo("striped:many:1000:485");
    }
  }

  @Test
  void keys_spreadOverAllStripes() {
    try (Fenceline fenceline = Fenceline.connect("memory:spread");
        StripedLocks stripes = StripedLocks.of(fenceline, "spread", 64)) {
      int[] keys = new int[64];
      for (int i = 0; i < 64_000; i++) {
        keys[stripes.stripeOf("key-" + i)]++;
      }
      for (int each : keys) {
        assertThat(each).isBetween(800, 1_200);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "REDLOCK")
  void anotherCount_failsWithBoth_untilTheFirstIsClosed(TestStore store) throws Exception {
    try (Fenceline first = Fenceline.connect(store.uri());
        Fenceline second = Fenceline.connect(store.uri())) {
      String key = "account-42";
      try (StripedLocks sixteen = StripedLocks.of(first, "counts", 16, OPTIONS);
          StripedLocks same = StripedLocks.of(second, "counts", 16, OPTIONS)) {
        try (Hold hold = sixteen.lock(key).acquire(AMPLE)) {
          assertThat(hold.isValid()).isTrue();
          assertThat(same.lock(key).tryAcquire()).as("the same key").isEmpty();
        }
        assertThatThrownBy(() -> StripedLocks.of(second, "counts", 32, OPTIONS))
            .isInstanceOf(StoreRefusedException.class)
            .hasMessageStartingWith(
                "Stripes 'counts' are in use with another count (asked=32, inUse=16). ");
      }
      StripedLocks opened =
          Eventually.until(
              AMPLE,
              "the old count to be given up",
              () -> {
                try {
                  return StripedLocks.of(second, "counts", 32, OPTIONS);
                } catch (StoreRefusedException e) {
                  return null;
                }
              },
              found -> found != null);
      opened.close();
      assertThatThrownBy(() -> opened.lock(key)).hasMessage("Stripes 'counts' are closed");
    }
  }

  @Test
  void redlock_whereTheCountCantBeAnnounced_isRefused() {
    try (Fenceline fenceline = Fenceline.connect(TestStore.REDLOCK.uri())) {
      assertThatThrownBy(() -> StripedLocks.of(fenceline, "counts", 16, OPTIONS).close())
          .isInstanceOf(InvalidSettingException.class)
          .hasMessage(
              "count 16: it can't be announced to other clients in this store (permits 1000016: a"
                  + " Redlock has at most 1024 permits a name). Use another store, or plain locks");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "REDIS"})
  void severalKeysAtOnce_neverDeadlock(TestStore store) throws Exception {
    try (Fenceline fenceline = Fenceline.connect(store.uri());
        StripedLocks stripes = StripedLocks.of(fenceline, "several", 8)) {
      List<FutureTask<Void>> movers = new ArrayList<>();
      Set<String> inUse = new HashSet<>();
      for (int i = 0; i < 4; i++) {
        Random random = new Random(i);
        movers.add(
            new FutureTask<>(
                () -> {
                  for (int move = 0; move < 10; move++) {
                    List<String> keys =
                        List.of("k" + random.nextInt(50), "k" + random.nextInt(50), "k0");
                    try (MultiHold hold = stripes.lockAll(keys).acquire(AMPLE)) {
                      assertThat(hold.hold(stripes.lockName("k0")).isValid()).isTrue();
                      synchronized (inUse) {
                        assertThat(inUse.add("k0")).as("k0 is not in use").isTrue();
                      }
                      synchronized (inUse) {
                        inUse.remove("k0");
                      }
                    }
                  }
                  return null;
                }));
      }
      movers.forEach(mover -> new Thread(mover).start());
      for (FutureTask<Void> mover : movers) {
        mover.get(120, TimeUnit.SECONDS);
      }
    }
  }

  @Test
  void badInput_isRefusedWithItsFigures() {
    try (Fenceline fenceline = Fenceline.connect("memory:bad")) {
      for (int count : new int[] {0, -1, 65_537}) {
        assertThatThrownBy(() -> StripedLocks.of(fenceline, "bad", count).close())
            .hasMessage("count %d: it must be 1 to 65536".formatted(count));
      }
      assertThatThrownBy(() -> StripedLocks.of(fenceline, "", 1).close())
          .isInstanceOf(InvalidSettingException.class);
      try (StripedLocks stripes = StripedLocks.of(fenceline, "bad", 65_536)) {
        assertThatThrownBy(() -> stripes.lock("")).hasMessage("key '': it is empty");
        assertThatThrownBy(() -> stripes.lock("é".repeat(600)))
            .hasMessageContaining("it is too long (bytes=1200, limit=1024)");
        assertThatThrownBy(() -> stripes.lock("\ud800")).hasMessageContaining("surrogate");
        assertThatThrownBy(() -> stripes.lockAll(List.of()))
            .hasMessage("keys []: there must be at least one");
      }
    }
  }
}
