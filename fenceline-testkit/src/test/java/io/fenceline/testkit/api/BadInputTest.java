package io.fenceline.testkit.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Acquirable;
import io.fenceline.ClientClosedException;
import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.MultiHold;
import io.fenceline.memory.MemorySpace;
import io.fenceline.settings.HandOff;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.settings.Limits;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Wrong input gets a clear exception with its figures, and takes nothing. */
class BadInputTest {
  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final Fenceline fenceline =
      Fenceline.builder().store(space.factory()).time(time).connect();

  @AfterEach
  void nothingIsHalfTaken() {
    assertThat(space.size()).isZero();
    fenceline.close();
  }

  // Names. --------------------------------------------------------------------------------------

  private void isNoName(String name, int bytes, String problem, String shown) {
    List<ThrowingCallable> uses = new ArrayList<>();
    uses.add(() -> fenceline.lock(name));
    uses.add(() -> fenceline.readWriteLock(name));
    uses.add(() -> fenceline.semaphore(name, 2));
    uses.add(() -> fenceline.lockAll("fine", name));
    uses.add(() -> fenceline.inspect(name));
    uses.add(() -> fenceline.forceRelease(name, 1 << 8));
    for (ThrowingCallable use : uses) {
      assertThatThrownBy(use)
          .isInstanceOfSatisfying(
              InvalidSettingException.class,
              refused -> {
                assertThat(refused.setting()).isEqualTo("lock name");
                assertThat(refused.value()).isEqualTo("'" + shown + "'");
                assertThat(refused)
                    .hasMessage(
                        "lock name '%s': %s (bytes=%d, limit=200)"
                            .formatted(shown, problem, bytes));
              });
    }
  }

  @Test
  void emptyName() {
    isNoName("", 0, "it is empty", "");
  }

  @Test
  void nameOf201Bytes() {
    isNoName("x".repeat(201), 201, "it is too long", "x".repeat(60) + "…");
  }

  @Test
  void nameOf201BytesInFewCharacters() {
    isNoName("é".repeat(100) + "x", 201, "it is too long", "é".repeat(60) + "…");
  }

  @Test
  void namesWithControlCharacters() {
    isNoName("a\nb", 3, "it has a control character", "a\\u000ab");
    isNoName("a\u0000", 2, "it has a control character", "a\\u0000");
    isNoName("a\u0085", 3, "it has a control character", "a\\u0085");
    isNoName("a\u007f", 2, "it has a control character", "a\\u007f");
  }

  @Test
  void namesWithHalfASurrogatePair() {
    isNoName("a\ud83d", 2, "it has half a surrogate pair", "a\\ud83d");
    isNoName("\ude00b", 2, "it has half a surrogate pair", "\\ude00b");
  }

  @Test
  void prefixesThatNoNameCanHave() {
    assertThatThrownBy(() -> fenceline.list("a\ud83d", 10))
        .isInstanceOf(InvalidSettingException.class);
    assertThatThrownBy(() -> fenceline.list("a\n", 10)).isInstanceOf(InvalidSettingException.class);
    assertThatThrownBy(() -> fenceline.list("x".repeat(201), 10))
        .isInstanceOf(InvalidSettingException.class);
    assertThat(fenceline.list("", 10)).isEmpty();
  }

  // Null. ---------------------------------------------------------------------------------------

  @Test
  void nullIsNamed() {
    FencedLock lock = fenceline.lock("ledger");
    LockOptions options = LockOptions.defaults();
    isNull("name", () -> fenceline.lock(null));
    isNull("options", () -> fenceline.lock("ledger", null));
    isNull("options", () -> fenceline.readWriteLock("ledger", null));
    isNull("options", () -> fenceline.semaphore("ledger", 1, null));
    isNull("names", () -> fenceline.lockAll((String[]) null));
    isNull("name", () -> fenceline.lockAll("ledger", null));
    isNull("name", () -> fenceline.lockAll(Arrays.asList("ledger", null), options));
    isNull("options", () -> fenceline.lockAll(List.of("ledger"), null));
    isNull("name", () -> fenceline.inspect(null));
    isNull("prefix", () -> fenceline.list(null, 1));
    isNull("maxWait", () -> hold(lock, null));
    isNull("maxWait", () -> lock.acquireAsync(null));
    isNull("task", () -> lock.call(Duration.ZERO, null));
    isNull("action", () -> lock.run(Duration.ZERO, null));
    isNull("workLimit", () -> lock.call(Duration.ZERO, null, held -> held));
    isNull("task", () -> lock.callAsync(Duration.ZERO, null));
    isNull("lease", () -> options.lease(null));
    isNull("lease", () -> options.fixedLease(null));
    isNull("maxHold", () -> options.maxHold(null));
    isNull("lockDelay", () -> options.lockDelay(null));
    isNull("keepAtLeast", () -> options.keepAtLeast(null));
    isNull("strategy", () -> options.waiting(null));
    isNull("label", () -> Fenceline.builder().label(null));
    isNull("uri", () -> Fenceline.builder().store((String) null));
    isNull("store", () -> Fenceline.builder().store((StoreFactory) null));
    isNull("listener", () -> Fenceline.builder().listener(null));
  }

  @Test
  void nullIsNamed_onAHold() {
    try (Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow()) {
      isNull("listener", () -> hold.onLost(null));
      isNull("duration", () -> hold.ensure(null));
      isNull("lease", () -> hold.extend(null));
    }
  }

  private static void isNull(String what, ThrowingCallable use) {
    assertThatThrownBy(use).isInstanceOf(NullPointerException.class).hasMessage(what);
  }

  @SuppressWarnings("MustBeClosedChecker") // Every call of it throws.
  private static <H extends Held> H hold(Acquirable<H> lock, Duration maxWait)
      throws InterruptedException {
    return lock.acquire(maxWait);
  }

  // Durations. ----------------------------------------------------------------------------------

  private static void isRefused(String setting, Object value, ThrowingCallable use) {
    assertThatThrownBy(use)
        .isInstanceOfSatisfying(
            InvalidSettingException.class,
            refused -> {
              assertThat(refused.setting()).isEqualTo(setting);
              assertThat(refused.value()).isEqualTo(String.valueOf(value));
              assertThat(refused).hasMessageStartingWith(setting + " ");
            });
  }

  @Test
  void leasesThatAreNone() {
    LockOptions options = LockOptions.defaults();
    for (Duration wrong :
        List.of(
            Duration.ZERO,
            Duration.ofSeconds(-1),
            Duration.ofNanos(999_999),
            Duration.ofDays(3651),
            Duration.ofSeconds(Long.MAX_VALUE),
            Duration.ofSeconds(Long.MIN_VALUE))) {
      isRefused("lease", wrong, () -> options.lease(wrong));
      isRefused("lease", wrong, () -> options.fixedLease(wrong));
      isRefused("maxHold", wrong, () -> options.maxHold(wrong));
      isRefused("connectTimeout", wrong, () -> Fenceline.builder().connectTimeout(wrong));
      isRefused("operationTimeout", wrong, () -> Fenceline.builder().operationTimeout(wrong));
      isRefused("retry delay", wrong, () -> WaitStrategy.retry(1, wrong, Duration.ZERO));
    }
  }

  @Test
  void waitsThatAreNone() {
    FencedLock lock = fenceline.lock("ledger");
    for (Duration wrong :
        List.of(
            Duration.ofNanos(-1),
            Duration.ofSeconds(Long.MAX_VALUE),
            Duration.ofSeconds(Long.MIN_VALUE))) {
      isRefused("maxWait", wrong, () -> hold(lock, wrong));
      isRefused("maxWait", wrong, () -> lock.acquireAsync(wrong));
      isRefused("maxWait", wrong, () -> fenceline.lockAll("a", "b").acquireAsync(wrong));
      isRefused("maxWait", wrong, () -> hold(fenceline.lockAll("a", "b"), wrong));
      isRefused("lockDelay", wrong, () -> LockOptions.defaults().lockDelay(wrong));
      isRefused("keepAtLeast", wrong, () -> LockOptions.defaults().keepAtLeast(wrong));
      isRefused("hand-off within", wrong, () -> new HandOff(1, wrong));
      isRefused("retry jitter", wrong, () -> WaitStrategy.retry(1, Duration.ofMillis(1), wrong));
    }
    isRefused(
        "lockDelay",
        Duration.ofNanos(1),
        () -> LockOptions.defaults().lockDelay(Duration.ofNanos(1)));
  }

  @Test
  void leaseShorterThanTheStoreCanKeep_saysWhatItCan() {
    assertThatThrownBy(
            () -> fenceline.lock("ledger", LockOptions.defaults().lease(Duration.ofMillis(9))))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessage("lease 9ms: the store 'memory' keeps leases from 10ms to 87600h");
  }

  @Test
  void wrongDurationsOnAHold_leaveItAlone() {
    LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofSeconds(30));
    try (Hold hold = fenceline.lock("ledger", fixed).tryAcquire().orElseThrow()) {
      for (Duration wrong : List.of(Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
        isRefused("duration", wrong, () -> hold.ensure(wrong));
        isRefused("lease", wrong, () -> hold.extend(wrong));
      }
      isRefused("lease", Duration.ZERO, () -> hold.extend(Duration.ZERO));
      assertThat(hold.isValid()).isTrue();
    }
  }

  // Numbers. ------------------------------------------------------------------------------------

  @Test
  void permitsThatThereAreNot() {
    isRefused("permits", 0, () -> fenceline.semaphore("pool", 0));
    isRefused("permits", -1, () -> fenceline.semaphore("pool", -1));
    isRefused("permits", 0, () -> fenceline.semaphore("pool", 3).several(0));
    isRefused("permits", 4, () -> fenceline.semaphore("pool", 3).several(4));
  }

  @Test
  void otherNumbersThatAreNone() {
    isRefused("waitersPerName", 0, () -> new Limits(0, 1, 1));
    isRefused("holds", 0, () -> new Limits(1, 0, 1));
    isRefused("pendingUndos", -1, () -> new Limits(1, 1, -1));
    isRefused("hand-off times", 256, () -> new HandOff(256, Duration.ZERO));
    isRefused("retry times", -1, () -> WaitStrategy.retry(-1, Duration.ofMillis(1), Duration.ZERO));
    isRefused("tokenBase", -1L, () -> Fenceline.builder().tokenBase(-1));
    isRefused("fencing token", 0L, () -> FencingToken.exclusive(0));
    isRefused("limit", 0, () -> fenceline.list("", 0));
    isRefused("token", 5L, () -> fenceline.forceRelease("ledger", 5));
    isRefused("label", "0 characters", () -> Fenceline.builder().label(""));
    isRefused("label", "101 characters", () -> Fenceline.builder().label("x".repeat(101)));
    isRefused("names", "none", () -> fenceline.lockAll());
    isRefused("store", "none", () -> Fenceline.builder().connect());
  }

  // Closed. -------------------------------------------------------------------------------------

  @Test
  void useAfterClose_saysSo() {
    FencedLock lock = fenceline.lock("ledger");
    Acquirable<MultiHold> both = fenceline.lockAll("a", "b");
    fenceline.close();

    List<Callable<?>> uses =
        List.of(
            () -> fenceline.lock("ledger"),
            () -> fenceline.readWriteLock("ledger"),
            () -> fenceline.semaphore("ledger", 2),
            () -> fenceline.lockAll("ledger"),
            () -> fenceline.inspect("ledger"),
            () -> fenceline.list("", 1),
            () -> fenceline.forceRelease("ledger", 1 << 8),
            lock::tryAcquire,
            () -> hold(lock, Duration.ofSeconds(1)),
            both::tryAcquire,
            () -> lock.asReentrantLock().tryLock());
    for (Callable<?> use : uses) {
      assertThatThrownBy(use::call)
          .isInstanceOf(ClientClosedException.class)
          .hasMessage("This Fenceline client is closed (store=memory:). Connect a new one.");
    }
  }

  // Addresses. ----------------------------------------------------------------------------------

  @Test
  void unknownScheme_listsTheKnownOnes() {
    assertThatThrownBy(() -> Fenceline.connect("mongodb://db/locks"))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("store scheme mongodb")
        .hasMessageContaining("memory")
        .hasMessageContaining("zookeeper");
  }

  @Test
  void schemeWhoseStoreIsMissing_namesTheArtifact() {
    assertThatThrownBy(() -> Fenceline.connect("etcd://user:CANARY@db:2379"))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("io.fenceline:fenceline-etcd")
        .hasMessageContaining("memory")
        .hasMessageNotContaining("CANARY");
  }

  @Test
  void memoryWithAHost_saysWhatIsRight() {
    assertThatThrownBy(() -> Fenceline.connect("memory://host:1?password=CANARY"))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("use memory: or memory:some-name")
        .hasMessageNotContaining("CANARY");
  }
}
