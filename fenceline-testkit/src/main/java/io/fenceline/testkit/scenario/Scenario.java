package io.fenceline.testkit.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.Contended;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the tests of all groups use: processes, threads, names, and time that passes. */
@ExtendWith(StartAgainAfterStall.class)
public abstract class Scenario {
  private static final Duration LONGEST_STEP = Duration.ofMillis(400);

  /** Tests count on being less late than this part of a lease. */
  private static final int HARMFUL_PART = 8;

  private final Supplier<StoreHarness> harnesses;
  private final List<Peer> peers = new ArrayList<>();
  private final List<Blocked<?>> threads = new ArrayList<>();

  private String suffix = "";
  private long openedNanos;

  protected StoreHarness harness;

  /** How long leases are; tests that want another length derive it from this one. */
  protected Duration lease;

  /** Longer than anything takes here; a wait that must not end by its own time. */
  protected Duration ample;

  /** Three processes that every test has; the third connects when it is first used. */
  protected Peer a;

  protected Peer b;
  protected Peer c;

  /** A name of this test's own. */
  protected String ledger;

  /**
   * Processes over a store.
   *
   * @param harnesses makes the harness of each test
   */
  protected Scenario(Supplier<StoreHarness> harnesses) {
    this.harnesses = harnesses;
  }

  @BeforeEach
  protected final void open() {
    suffix = Long.toHexString(ThreadLocalRandom.current().nextLong());
    harness = harnesses.get();
    StallDetector.ofThisJvm();
    openedNanos = System.nanoTime();
    lease = harness.lease();
    ample = lease.multipliedBy(60);
    ledger = name("ledger");
    a = peer("a");
    b = peer("b");
    c = peerForLater("c", harness.store(), builder -> {});
  }

  @AfterEach
  protected final void close() {
    for (Blocked<?> thread : threads) {
      thread.interrupt();
    }
    try {
      Blocked<Boolean> closing = inThread(this::closePeers);
      // What is being undone is tried again after a while.
      elapseUntil("all clients to close", closing::isDone);
      for (Blocked<?> thread : threads) {
        await("thread " + thread + " to end", thread::hasEnded);
      }
      assertThat(closing.result()).isTrue();
    } finally {
      harness.close();
    }
    peers.clear();
    threads.clear();
  }

  /** How long this JVM stood still since the test began, if leases may have been lost by that. */
  protected final Duration harmfulStall() {
    Duration stall = StallDetector.ofThisJvm().longestSince(openedNanos);
    boolean harmful =
        harness.passesByItself() && stall.multipliedBy(HARMFUL_PART).compareTo(lease) > 0;
    return harmful ? stall : Duration.ZERO;
  }

  /** {@code hold}, whose lease nobody renews, still keeps {@code other} out. */
  protected final void assertKeepsOut(Hold hold, Peer other) {
    assertThat(hold.isValid()).isTrue();
    boolean granted = other.tryTake(ledger).isPresent();
    // Between the two, a busy machine may have let the lease run out.
    if (granted && !hold.isValid()) {
      throw new LeaseRanOut(hold);
    }
    assertThat(granted).as("granted beside " + hold).isFalse();
  }

  /** {@code hold}, whose lease nobody renews, has kept out whoever asked and got {@code answer}. */
  protected final void assertKeptOut(Hold hold, Optional<Hold> answer) {
    if (answer.isPresent() && !hold.isValid()) {
      throw new LeaseRanOut(hold);
    }
    assertThat(answer).as("granted beside " + hold).isEmpty();
  }

  /** The machine was too slow for a lease: nothing was shown. */
  static final class LeaseRanOut extends AssertionError {
    private static final long serialVersionUID = 1;

    LeaseRanOut(Hold hold) {
      super("the lease ran out before another client was answered: " + hold);
    }
  }

  private boolean closePeers() {
    for (int i = peers.size() - 1; i >= 0; i--) {
      peers.get(i).close();
    }
    return true;
  }

  // Processes. ----------------------------------------------------------------------------------

  protected final Peer peer(String label) {
    return peer(label, builder -> {});
  }

  protected final Peer peer(String label, Consumer<FencelineBuilder> settings) {
    return peer(label, harness.store(), settings);
  }

  protected final Peer peer(String label, StoreFactory store, Consumer<FencelineBuilder> settings) {
    return peerForLater(label, store, settings).connected();
  }

  /** A process that connects when it is first used. */
  private Peer peerForLater(String label, StoreFactory store, Consumer<FencelineBuilder> settings) {
    LossyStore[] opened = new LossyStore[1];
    EventLog events = new EventLog();
    FencelineBuilder builder =
        Fenceline.builder()
            .store(LossyStore.over(store, opened))
            .label(label)
            .listener(events)
            .defaultOptions(renewed());
    harness.prepare(builder);
    settings.accept(builder);
    Peer peer = new Peer(label, events, () -> new Peer.Connection(connect(builder), opened[0]));
    peers.add(peer);
    return peer;
  }

  @SuppressWarnings("MustBeClosedChecker") // Closed after the test.
  private static Fenceline connect(FencelineBuilder builder) {
    return builder.connect();
  }

  protected final String name(String base) {
    return base + "-" + suffix;
  }

  // Options. ------------------------------------------------------------------------------------

  protected final LockOptions renewed() {
    return LockOptions.defaults().lease(lease);
  }

  protected final LockOptions fixed() {
    return LockOptions.defaults().fixedLease(lease);
  }

  // Time. ---------------------------------------------------------------------------------------

  protected final void elapse(Duration duration) {
    harness.elapse(duration);
  }

  /** Waits for something that others do; in vain, it says what the processes have heard. */
  protected final void await(String what, Callable<Boolean> condition) {
    try {
      harness.await(what, condition);
    } catch (AssertionError e) {
      StringBuilder heard = new StringBuilder(e.getMessage());
      for (Peer peer : peers) {
        heard.append("%n  %s heard %s".formatted(peer.label(), peer.events().all()));
      }
      throw new AssertionError(heard.toString(), e);
    }
  }

  /** Waits for something that takes time: lets a little pass, then more. */
  protected final void elapseUntil(String what, Callable<Boolean> condition) {
    Duration[] step = {Duration.ofMillis(1)};
    await(
        what,
        () -> {
          if (!condition.call()) {
            elapse(step[0]);
            Duration twice = step[0].multipliedBy(2);
            step[0] = twice.compareTo(LONGEST_STEP) < 0 ? twice : LONGEST_STEP;
          }
          return condition.call();
        });
  }

  /** Lets a term pass, and waits until the store shows that the name is free. */
  protected final void elapseUntilFree(Peer observer, String name, Duration term) {
    elapse(term);
    awaitFree(observer, name);
  }

  /**
   * Nobody holds it, and nobody waits: a claim that is still being withdrawn goes before others.
   */
  protected final void awaitFree(Peer observer, String name) {
    LockReport[] seen = new LockReport[1];
    try {
      await(
          name + " to be free",
          () -> {
            seen[0] = observer.inspect(name);
            return seen[0].isFree() && seen[0].waiters().isEmpty();
          });
    } catch (AssertionError e) {
      throw new AssertionError(e.getMessage() + "%n  last seen: %s".formatted(seen[0]), e);
    }
  }

  /** Waits until this many calls of a process were told to wait for a name. */
  protected final void awaitContended(Peer peer, String name, int times) {
    await(
        times + " claims of " + peer.label() + " to wait",
        () -> peer.events().of(Contended.class, name).size() >= times);
  }

  /** Waits for a future with a bound, and gives what it was completed with. */
  protected final <T> T get(CompletableFuture<T> future) {
    await("the future", future::isDone);
    return future.join();
  }

  /** Waits for a future with a bound, and gives what it failed with. */
  protected final Throwable failure(CompletableFuture<?> future) {
    await("the future", future::isDone);
    try {
      throw new AssertionError("it did not fail but gave " + future.join());
    } catch (CompletionException e) {
      return e.getCause() == null ? e : e.getCause();
    } catch (CancellationException e) {
      return e;
    }
  }

  // Threads. ------------------------------------------------------------------------------------

  /** Starts a call that may block. */
  protected final <T> Blocked<T> inThread(Callable<T> call) {
    Blocked<T> thread = new Blocked<>(call, this::await);
    threads.add(thread);
    return thread;
  }

  /** Starts a blocking acquire. */
  protected final <H extends Held> Blocked<H> acquiring(Acquirable<H> lock, Duration maxWait) {
    return inThread(() -> acquire(lock, maxWait));
  }

  @SuppressWarnings("MustBeClosedChecker") // The test decides when it is released.
  protected static <H extends Held> H acquire(Acquirable<H> lock, Duration maxWait)
      throws InterruptedException {
    return lock.acquire(maxWait);
  }

  // Guarantees. ---------------------------------------------------------------------------------

  protected final boolean gives(Guarantee guarantee) {
    return a.fenceline().guarantees().gives(guarantee);
  }

  /**
   * Whether to go on with a test of this guarantee. Where the store does not declare it, asserts
   * instead that what relies on it is refused.
   */
  protected final boolean givesOrRefuses(Guarantee guarantee, ThrowingCallable relying) {
    if (gives(guarantee)) {
      return true;
    }
    assertThatThrownBy(relying)
        .isInstanceOfSatisfying(
            InvalidSettingException.class,
            refusal -> assertThat(refusal.value()).isEqualTo(guarantee.name()));
    return false;
  }

  /** As above, for what only {@code require} can refuse. */
  protected final boolean givesOrRefuses(Guarantee guarantee) {
    return givesOrRefuses(guarantee, () -> peer("demanding", it -> it.require(guarantee)));
  }
}
