package io.fenceline.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.settings.InvalidSettingException;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A name has a group, and there are few of them, whatever the names. */
class LockGroupsTest {

  @Test
  void declaredPatterns_comeFirst_inTheirOrder() {
    LockGroups groups = LockGroups.of("eu:orders:*", "eu:*", "ledger", "job-*-nightly");

    assertThat(groups.groupOf("eu:orders:17")).isEqualTo("eu:orders");
    assertThat(groups.groupOf("eu:stock:17")).isEqualTo("eu");
    assertThat(groups.groupOf("ledger")).isEqualTo("ledger");
    assertThat(groups.groupOf("ledger2")).isEqualTo("other");
    assertThat(groups.groupOf("job-7-nightly")).isEqualTo("job-");
    assertThat(groups.groupOf("us:orders:17")).isEqualTo("us");
  }

  @Test
  void withoutPatterns_thePartBeforeTheFirstSeparator_neverAWholeName() {
    LockGroups groups = LockGroups.of();

    assertThat(groups.groupOf("orders:17")).isEqualTo("orders");
    assertThat(groups.groupOf("orders/17:a")).isEqualTo("orders");
    assertThat(groups.groupOf("com.example.Job")).isEqualTo("com");
    assertThat(groups.groupOf("0b9e4c7e-customer")).isEqualTo("other");
    assertThat(groups.groupOf(":17")).isEqualTo("other");
  }

  @Test
  void patternsThatNameNoGroup_areRefused() {
    assertThatThrownBy(() -> LockGroups.of("*:17")).isInstanceOf(InvalidSettingException.class);
    assertThatThrownBy(() -> LockGroups.of("")).isInstanceOf(InvalidSettingException.class);
    assertThatThrownBy(() -> LockGroups.of(Collections.nCopies(101, "a*").toArray(new String[0])))
        .isInstanceOf(InvalidSettingException.class);
  }

  @Test
  void aMillionNames_haveAtMost101Groups_andNoMoreMetersThanThat() {
    int names = 1_000_000;
    LockGroups groups = LockGroups.of("orders:*");
    MeterRegistry registry = new SimpleMeterRegistry();
    KindMeters meters = new KindMeters(FencelineMetrics.of(registry, groups), registry, "memory");
    for (int i = 0; i < 1_000; i++) {
      meters.of(i + ":name");
    }
    int metersBefore = registry.getMeters().size();
    long memoryBefore = used();
    Set<String> met = new HashSet<>();

    for (int i = 0; i < names; i++) {
      meters.of(i + ":name");
      met.add(groups.groupOf(i + ":name"));
    }

    assertThat(met).hasSize(100).contains("other"); // The declared one is the hundredth.
    assertThat(groups.groupOf("orders:1")).isEqualTo("orders");
    assertThat(registry.getMeters()).hasSize(metersBefore);
    assertThat(used() - memoryBefore).as("bytes more").isLessThan(1_000_000);
  }

  private static long used() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
