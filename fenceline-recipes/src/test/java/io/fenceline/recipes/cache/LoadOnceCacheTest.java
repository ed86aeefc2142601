package io.fenceline.recipes.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.memory.MemorySpace;
import io.fenceline.recipes.TestStore;
import io.fenceline.recipes.once.Codec;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a cache loads, and what it keeps; the locks' time is the test's. */
class LoadOnceCacheTest {
  private static final Duration AMPLE = Duration.ofMinutes(2);
  private static final Duration TTL = Duration.ofMinutes(10);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final List<Fenceline> opened = new ArrayList<>();
  private final Fenceline first = client();
  private final Fenceline second = client();
  private final AtomicInteger loads = new AtomicInteger();
  private final String key = "key-" + System.nanoTime();

  private enum Tier {
    MEMORY,
    REDIS
  }

  private Fenceline client() {
    Fenceline client = Fenceline.builder().store(space.factory()).time(time).connect();
    opened.add(client);
    return client;
  }

  @AfterEach
  void close() {
    opened.forEach(Fenceline::close);
  }

  private LoadOnceCache<String> cache(Fenceline client) {
    return LoadOnceCache.of(client, "prices", Codec.text(), TTL, CacheFallback.FAIL).jitter(0);
  }

  private SharedTier tier(Tier tier) {
    return tier == Tier.MEMORY
        ? MemoryTier.of(first)
        : RedisTier.over(
            RedisClient.create(TestStore.REDIS.uri()).connect(ByteArrayCodec.INSTANCE));
  }

  private String load(String ignored) {
    return "load " + loads.incrementAndGet();
  }

  @Test
  void localTier_isAskedFirst_untilTheTimeToLiveIsOver() throws Exception {
    LoadOnceCache<String> cache = cache(first);
    assertThat(cache.get(key, this::load)).isEqualTo("load 1");
    assertThat(cache.get(key, this::load)).isEqualTo("load 1");
    time.advance(TTL.minusMillis(1));
    assertThat(cache.get(key, this::load)).isEqualTo("load 1");
    time.advance(Duration.ofMillis(1));
    assertThat(cache.get(key, this::load)).isEqualTo("load 2");
    cache.invalidate(key);
    assertThat(cache.get(key, this::load)).isEqualTo("load 3");
    assertThat(cache(second).get(key, this::load)).as("another process").isEqualTo("load 4");
  }

  @ParameterizedTest
  @EnumSource
  void sharedTier_isOneForAllProcesses(Tier kind) throws Exception {
    SharedTier tier = tier(kind);
    LoadOnceCache<String> here = cache(first).shared(tier);
    LoadOnceCache<String> there = cache(second).shared(tier);
    assertThat(here.get(key, this::load)).isEqualTo("load 1");
    assertThat(there.get(key, this::load)).isEqualTo("load 1");
    there.invalidate(key);
    assertThat(there.get(key, this::load)).isEqualTo("load 2");
    assertThat(here.get(key, this::load)).as("its local tier, still").isEqualTo("load 1");
  }

  @Test
  void invalidate_discardsWhatIsBeingLoaded() throws Exception {
    invalidatedMeanwhile(cache(first));
  }

  @ParameterizedTest
  @EnumSource
  void invalidate_discardsWhatIsBeingLoaded_forASharedTier(Tier kind) throws Exception {
    invalidatedMeanwhile(cache(first).shared(tier(kind)));
  }

  private void invalidatedMeanwhile(LoadOnceCache<String> cache) throws Exception {
    String loaded =
        cache.get(
            key,
            asked -> {
              String value = load(asked);
              cache.invalidate(asked);
              return value;
            });
    assertThat(loaded).isEqualTo("load 1");
    assertThat(cache.get(key, this::load)).isEqualTo("load 2");
  }

  @ParameterizedTest
  @EnumSource
  void threadsThatAskTogether_loadOnce(Tier kind) throws Exception {
    SharedTier tier = tier(kind);
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    List<FutureTask<String>> askers = new ArrayList<>();
    List<LoadOnceCache<String>> caches =
        List.of(cache(first).shared(tier), cache(second).shared(tier));
    for (int i = 0; i < 8; i++) {
      LoadOnceCache<String> cache = caches.get(i % 2);
      askers.add(
          new FutureTask<>(
              () ->
                  cache.get(
                      key,
                      asked -> {
                        loading.countDown();
                        goOn.await();
                        return load(asked);
                      })));
    }
    askers.forEach(asker -> new Thread(asker).start());
    loading.await();
    time.awaitParked(7);
    goOn.countDown();
    for (FutureTask<String> asker : askers) {
      assertThat(asker.get(120, TimeUnit.SECONDS)).isEqualTo("load 1");
    }
  }

  /** Those who ask while another one loads get the last value at once, or wait and are told. */
  @ParameterizedTest
  @EnumSource
  void whileAnotherOneLoads_theStaleValueIsServed_orItIsWaitedFor(Tier kind) throws Exception {
    SharedTier tier = tier(kind);
    boolean isManual = kind == Tier.MEMORY;
    Duration shortly = isManual ? TTL : Duration.ofMillis(50);
    LoadOnceCache<String> stale =
        LoadOnceCache.of(second, "prices", Codec.text(), shortly, CacheFallback.FAIL)
            .jitter(0)
            .shared(tier)
            .servingStale(Duration.ofHours(1));
    assertThat(stale.get(key, this::load)).isEqualTo("load 1");
    time.advance(TTL);
    if (!isManual) {
      Eventually.until(AMPLE, "its end", () -> !tier.find("prices:" + key).orElseThrow().isFresh());
    }
    try (Hold loader = first.lock("cache:prices:" + key).acquire(AMPLE)) {
      assertThat(loader.isValid()).isTrue();
      assertThat(stale.get(key, this::load)).isEqualTo("load 1");
      assertThat(stale.localLimit(0).get(key, this::load)).as("of the tier").isEqualTo("load 1");
      FutureTask<String> waiter =
          new FutureTask<>(() -> cache(second).shared(tier).waiting(TTL).get(key, this::load));
      new Thread(waiter).start();
      time.awaitParked(1);
      time.advance(TTL.plusSeconds(1));
      assertThatThrownBy(() -> waiter.get(120, TimeUnit.SECONDS))
          .hasCauseInstanceOf(LockTimeoutException.class);
    }
    assertThat(stale.get(key, this::load)).isEqualTo("load 2");
  }

  @ParameterizedTest
  @EnumSource
  void overtakenLoader_cantPutItsOlderValue_evenAfterTheNewerHasExpired(Tier kind) {
    SharedTier tier = tier(kind);
    Duration brief = Duration.ofMillis(50);
    Duration load = Duration.ofMinutes(10);
    assertThat(tier.begin(key, 5, load).isOurs()).isTrue();
    assertThat(tier.begin(key, 5, load).isOurs()).as("sent twice").isTrue();
    assertThat(tier.begin(key, 7, load).isOurs()).isTrue();
    assertThat(tier.put(key, 5, new byte[] {5}, TTL, TTL)).as("overtaken").isFalse();
    assertThat(tier.begin(key, 6, load).isOurs()).as("late").isFalse();
    assertThat(tier.put(key, 7, new byte[] {7}, brief, brief)).isTrue();
    assertThat(tier.begin(key, 8, load).found().orElseThrow().value()).containsExactly(7);
    time.advance(brief);
    Eventually.until(AMPLE, "its end", () -> tier.find(key).isEmpty());
    assertThat(tier.put(key, 5, new byte[] {5}, TTL, TTL)).as("after the expiry").isFalse();
    assertThat(tier.put(key, 7, new byte[] {7}, TTL, TTL)).as("sent twice, late").isFalse();
    assertThat(tier.find(key)).isEmpty();
    assertThat(tier.begin(key, 9, load).isOurs()).isTrue();
    tier.remove(key);
    assertThat(tier.put(key, 9, new byte[] {9}, TTL, TTL)).as("invalidated").isFalse();
  }

  @Test
  void failuresAndNull_areNotCached() throws Exception {
    LoadOnceCache<String> cache = cache(first).shared(tier(Tier.MEMORY));
    assertThatThrownBy(
            () ->
                cache.get(
                    key,
                    asked -> {
                      throw new IOException("no route");
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("no route");
    assertThatThrownBy(() -> cache.get(key, asked -> null))
        .isInstanceOf(NullPointerException.class)
        .hasMessage(
            "The loader of key '%s' returned null, which can't be cached (cache=prices)"
                .formatted(key));
    assertThat(cache.get(key, this::load)).isEqualTo("load 1");
  }

  @Test
  void jitter_spreadsTheEnds() throws Exception {
    MemoryTier tier = MemoryTier.of(first);
    LoadOnceCache<String> cache = cache(first).shared(tier).jitter(0.5);
    Set<Duration> ends = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      cache.get(key + i, this::load);
      Duration end = tier.find("prices:" + key + i).orElseThrow().fresh();
      assertThat(end).isBetween(TTL.dividedBy(2), TTL);
      ends.add(end);
    }
    assertThat(ends).hasSizeGreaterThan(90);
  }

  @Test
  void storeOfTheLocksThatIsAway_fails_orLoadsWithoutTheLock_asChosen() throws Exception {
    Duration briefly = Duration.ofSeconds(1);
    RedisServer server = RedisServer.start();
    try (Fenceline client =
        Fenceline.builder().store(server.uri()).operationTimeout(briefly).connect()) {
      LoadOnceCache<String> failing = cache(client).waiting(briefly);
      LoadOnceCache<String> loading =
          LoadOnceCache.of(client, "prices", Codec.text(), TTL, CacheFallback.LOAD)
              .waiting(briefly);
      assertThat(failing.get(key, this::load)).isEqualTo("load 1");
      server.close();

      assertThatThrownBy(() -> failing.get(key + "-other", this::load))
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(loading.get(key + "-other", this::load)).isEqualTo("load 2");
    }
  }

  @Test
  void sharedTierThatIsAway_fails_orLoadsAlone_asChosen() throws Exception {
    RedisServer server = RedisServer.start();
    RedisClient client = RedisClient.create(server.uri());
    client.setOptions(
        ClientOptions.builder()
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .build());
    RedisTier tier = RedisTier.over(client.connect(ByteArrayCodec.INSTANCE));
    LoadOnceCache<String> failing = cache(first).shared(tier);
    LoadOnceCache<String> loading =
        LoadOnceCache.of(first, "prices", Codec.text(), TTL, CacheFallback.LOAD).shared(tier);
    assertThat(failing.get(key, this::load)).isEqualTo("load 1");
    server.close();
    assertThat(failing.get(key, this::load)).as("of the local tier").isEqualTo("load 1");
    assertThatThrownBy(() -> failing.get(key + "-other", this::load))
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(loading.get(key, this::load)).isEqualTo("load 2");
    assertThat(loading.get(key, this::load)).as("kept here").isEqualTo("load 2");
    client.shutdown();
  }

  @Test
  void badInput_isRefusedWithItsFigures() {
    LoadOnceCache<String> cache = cache(first);
    assertThatThrownBy(() -> cache.get("", this::load))
        .hasMessage("key '': it is empty (bytes=0, limit=187)");
    assertThatThrownBy(() -> cache.get("k".repeat(188), this::load))
        .hasMessageContaining("it is too long (bytes=188, limit=187)");
    assertThatThrownBy(() -> cache.jitter(1)).hasMessage("jitter 1.0: it must be 0 to 0.9");
    assertThatThrownBy(() -> cache.jitter(Double.NaN)).hasMessageStartingWith("jitter NaN");
    assertThatThrownBy(() -> cache.localLimit(-1)).hasMessageStartingWith("localLimit -1");
    assertThatThrownBy(
            () ->
                LoadOnceCache.of(first, "prices", Codec.text(), Duration.ZERO, CacheFallback.FAIL))
        .hasMessage("timeToLive 0ms: it must be at least 1ms");
    assertThatThrownBy(() -> LoadOnceCache.of(first, "a b", Codec.text(), TTL, CacheFallback.FAIL))
        .hasMessageStartingWith("name 'a b'");
    assertThat(loads).hasValue(0);
  }
}
