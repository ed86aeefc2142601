package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LossReason;
import io.fenceline.event.Lost;
import io.fenceline.memory.MemorySpace;
import io.fenceline.metrics.AcquireOutcome;
import io.fenceline.metrics.HoldFacts;
import io.fenceline.metrics.LockObserver;
import io.fenceline.runtime.machine.Workers;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.Validity;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Calls that are stopped between two critical sections, at each such place in turn, while another
 * call runs: whatever was decided in the first section must still be right in the second.
 */
@SuppressWarnings("MustBeClosedChecker") // What is left open goes with the instance.
class PreemptionTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** A client on manual time, whose store can be told to leave its answers to the test. */
  abstract static class OneClient implements Crossing {
    final ManualTime time = new ManualTime();
    final MemorySpace space = MemorySpace.create(time::wallMillis);
    final List<ClaimHandler> claims = new CopyOnWriteArrayList<>();
    final List<Runnable> renewals = new CopyOnWriteArrayList<>();
    boolean holdsClaims;
    boolean holdsRenewals;
    final Client client =
        (Client)
            Fenceline.builder()
                .store(StoreProxy.over(space.factory(), this::held))
                .time(time)
                .defaultOptions(LockOptions.defaults().lease(LEASE))
                .operationTimeout(Duration.ofSeconds(3))
                .connect();

    private @Nullable Object held(Method method, Object[] arguments, StoreProxy.Store store)
        throws Throwable {
      if (holdsClaims && method.getName().equals("claim")) {
        claims.add((ClaimHandler) arguments[1]);
        return null;
      }
      Object answer = store.ask();
      return holdsRenewals && method.getName().equals("renew") ? later((List<?>) answer) : answer;
    }

    private List<CompletableFuture<Renewal>> later(List<?> answers) {
      List<CompletableFuture<Renewal>> later = new ArrayList<>();
      for (Object answer : answers) {
        CompletableFuture<Renewal> future = new CompletableFuture<>();
        Renewal given = (Renewal) ((CompletableFuture<?>) answer).join();
        renewals.add(() -> future.complete(given));
        later.add(future);
      }
      return later;
    }

    final void nothingIsLeft() {
      assertThat(client.names()).as("names").isZero();
      assertThat(client.holds()).as("holds").isZero();
      assertThat(client.clientGrants()).as("grants that are kept").isZero();
      assertThat(space.size()).as("names of the store").isZero();
    }
  }

  /** A renewal is answered just before the deadline, and the timer fires at the deadline. */
  static final class RenewalAndDeadline extends OneClient {
    private final List<Lost> told = new CopyOnWriteArrayList<>();
    private final Hold hold;

    RenewalAndDeadline() {
      hold = client.lock("ledger").tryAcquire().orElseThrow();
      hold.onLost(told::add);
      holdsRenewals = true;
      time.advance(LEASE.minusSeconds(5));
      time.advance(hold.remaining().minusMillis(1));
      holdsRenewals = false;
    }

    @Override
    public void first() {
      renewals.get(renewals.size() - 1).run();
    }

    @Override
    public void second() {
      time.advance(Duration.ofMillis(2));
    }

    @Override
    public void check() {
      if (told.isEmpty()) {
        assertThat(client.clientGrants()).as("grants that are kept").isEqualTo(1);
        time.advance(LEASE.multipliedBy(3));
        assertThat(told).as("losses, though the store answers").isEmpty();
        assertThat(hold.isValid()).isTrue();
      }
      client.close();
      assertThat(told).hasSize(1);
      nothingIsLeft();
    }
  }

  /** A grant comes with the last of its lease: its timer fires before anyone has it. */
  static final class GrantAndDeadline extends OneClient {
    private final CompletableFuture<Hold> asked;

    GrantAndDeadline() {
      holdsClaims = true;
      asked = client.lock("ledger").acquireAsync(Duration.ofHours(1));
    }

    @Override
    public void first() {
      claims.get(0).granted(new Grant(7, new Validity(time.now(), LEASE)));
    }

    @Override
    public void second() {
      time.advance(LEASE.plusSeconds(1));
    }

    @Override
    public void check() {
      if (asked.isDone()) {
        CompletableFuture<Lost> lost = asked.join().lost();
        time.advance(LEASE.multipliedBy(2));
        assertThat(lost).as("the loss").isDone();
      } else {
        assertThat(claims).as("the claim and the one after it").hasSize(2);
        asked.cancel(false);
      }
      nothingIsLeft();
    }
  }

  /** A long extension is answered while a short one is sent. */
  static final class ExtensionAndExtension extends OneClient {
    private final List<Lost> told = new CopyOnWriteArrayList<>();
    private final Hold hold;

    ExtensionAndExtension() {
      hold =
          client
              .lock("ledger", LockOptions.defaults().fixedLease(LEASE))
              .tryAcquire()
              .orElseThrow();
      hold.onLost(told::add);
      holdsRenewals = true;
      CompletableFuture<Void> unused = hold.extendAsync(LEASE.multipliedBy(2));
    }

    @Override
    public void first() {
      renewals.get(0).run();
    }

    @Override
    public void second() {
      CompletableFuture<Void> unused = hold.extendAsync(Duration.ofSeconds(1));
    }

    @Override
    public void check() {
      Duration believed = hold.remaining();
      time.advance(believed);
      assertThat(told).as("losses at the deadline, after " + believed).hasSize(1);
    }
  }

  /** A reader comes while its client is closed. */
  static final class ReaderAndClose extends OneClient {
    private final Acquirable<Hold> lock = client.readWriteLock("ledger").readLock();
    private CompletableFuture<Hold> asked = new CompletableFuture<>();

    @Override
    public void first() {
      asked = lock.acquireAsync(Duration.ofMinutes(1));
    }

    @Override
    public void second() {
      client.close();
    }

    @Override
    public void check() {
      assertThat(asked).as("the reader's future").isDone();
      nothingIsLeft();
    }
  }

  /** The only writer comes while its client is closed. */
  static final class WriterAndClose extends OneClient {
    private final Acquirable<Hold> lock = client.lock("ledger");
    private CompletableFuture<Hold> asked = new CompletableFuture<>();

    @Override
    public void first() {
      asked = lock.acquireAsync(Duration.ofMinutes(1));
    }

    @Override
    public void second() {
      client.close();
    }

    @Override
    public void check() {
      assertThat(asked).as("the writer's future").isDone();
      nothingIsLeft();
    }
  }

  /** The store says that the grant is gone while it is still telling of it. */
  static final class GrantAndItsEnd extends OneClient {
    private final CompletableFuture<Hold> asked;

    GrantAndItsEnd() {
      holdsClaims = true;
      asked = client.lock("ledger").acquireAsync(Duration.ofHours(1));
    }

    @Override
    public void first() {
      claims.get(0).granted(new Grant(7, new Validity(time.now(), LEASE)));
    }

    @Override
    public void second() {
      claims.get(0).gone();
    }

    @Override
    public void check() {
      if (asked.isDone()) {
        assertThat(asked.join().isValid()).as("valid, though it is gone").isFalse();
        assertThat(asked.join().lost()).as("the loss").isDone();
      } else {
        assertThat(claims).as("the claim and the one after it").hasSize(2);
        asked.cancel(false);
      }
      nothingIsLeft();
    }
  }

  /** A hold is released while its client is closed. */
  static final class ReleaseAndClose extends OneClient {
    private final List<Lost> told = new CopyOnWriteArrayList<>();
    private final Hold hold;
    private ReleaseOutcome outcome = ReleaseOutcome.UNKNOWN;

    ReleaseAndClose() {
      hold = client.lock("ledger").tryAcquire().orElseThrow();
      hold.onLost(told::add);
    }

    @Override
    public void first() {
      outcome = hold.release();
    }

    @Override
    public void second() {
      client.close();
    }

    @Override
    public void check() {
      if (outcome == ReleaseOutcome.ALREADY_LOST) {
        assertThat(told).hasSize(1);
        assertThat(told.get(0).reason()).isEqualTo(LossReason.CLIENT_CLOSED);
        nothingIsLeft();
        return;
      }
      assertThat(told).as("losses of what was released").isEmpty();
      if (outcome == ReleaseOutcome.RELEASED) {
        nothingIsLeft();
      } // Otherwise it was sent when the store was closed: nobody can say what became of it.
    }
  }

  /**
   * A hold is released while it is lost by the close of its client, and the store still answers.
   */
  static final class ReleaseAndLossByClose extends OneClient {
    private final List<Lost> told = new CopyOnWriteArrayList<>();
    private final LockHandle hold;
    private ReleaseOutcome outcome = ReleaseOutcome.UNKNOWN;

    ReleaseAndLossByClose() {
      hold = (LockHandle) client.lock("ledger").tryAcquire().orElseThrow();
      hold.onLost(told::add);
    }

    @Override
    public void first() {
      outcome = hold.release();
    }

    @Override
    public void second() {
      hold.callerHold.lifecycle.lose(LossReason.CLIENT_CLOSED);
    }

    @Override
    public void check() {
      boolean lostBefore = outcome == ReleaseOutcome.ALREADY_LOST;
      assertThat(told).as("losses, when the release said " + outcome).hasSize(lostBefore ? 1 : 0);
      assertThat(told).allMatch(lost -> lost.reason() == LossReason.CLIENT_CLOSED);
      assertThat(outcome).isNotEqualTo(ReleaseOutcome.UNKNOWN);
      nothingIsLeft();
    }
  }

  /** A renewal is being taken in while someone looks, a little later, at the hold. */
  static final class RenewalAndLook extends OneClient {
    private final Hold hold;
    private Duration seen = Duration.ZERO;

    RenewalAndLook() {
      hold = client.lock("ledger").tryAcquire().orElseThrow();
      holdsRenewals = true;
      time.advance(LEASE.minusSeconds(5));
      time.advance(hold.remaining().minusMillis(1));
      holdsRenewals = false;
    }

    @Override
    public void first() {
      renewals.get(renewals.size() - 1).run();
    }

    @Override
    public void second() {
      time.pause(Duration.ofMillis(2));
      seen = hold.remaining();
    }

    @Override
    public void check() {
      assertThat(hold.isValid()).as("valid after %s were left", seen).isEqualTo(!seen.isZero());
    }
  }

  /** A caller gives up while its grant comes with the last of its lease. */
  static final class GrantAndEveryoneGone extends OneClient {
    private final CompletableFuture<Hold> asked;

    GrantAndEveryoneGone() {
      holdsClaims = true;
      asked = client.lock("ledger").acquireAsync(Duration.ofHours(1));
    }

    @Override
    public void first() {
      claims.get(0).granted(new Grant(7, new Validity(time.now(), LEASE)));
    }

    @Override
    public void second() throws InterruptedException {
      Thread leaving = new Thread(() -> asked.cancel(false), "leaving");
      leaving.start();
      // As far as it gets: it may have to wait for the first call.
      Eventually.until(
          Duration.ofSeconds(30),
          "the cancel",
          () ->
              leaving.getState() == Thread.State.BLOCKED
                  || leaving.getState() == Thread.State.TERMINATED);
      time.advance(LEASE);
      leaving.join();
    }

    @Override
    public void check() {
      time.advance(LEASE);
      nothingIsLeft();
    }
  }

  /**
   * An acquire is about to be counted among those that wait while it is settled, and counted out.
   */
  abstract static class WaitAndItsEnd extends OneClient {
    private final AtomicInteger waiters = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

    WaitAndItsEnd() {
      client.observe(kind -> new Waiters());
      holdsClaims = true;
    }

    /** Counts as a gauge does, in two steps; calls of one acquire must not cross. */
    private final class Waiters implements LockObserver {
      @Override
      public Object acquireStarted(String name) {
        return new AtomicBoolean();
      }

      @Override
      public void waiting(Object context) {
        waiters.incrementAndGet();
        ((AtomicBoolean) context).set(true);
      }

      @Override
      public void acquired(Object context, AcquireOutcome outcome, HoldFacts hold, long nanos) {
        end((AtomicBoolean) context);
      }

      @Override
      public void notAcquired(Object context, AcquireOutcome outcome, long nanos, Throwable cause) {
        end((AtomicBoolean) context);
      }

      private void end(AtomicBoolean waits) {
        if (waits.getAndSet(false)) {
          waiters.decrementAndGet();
        }
        ended.incrementAndGet();
      }
    }

    abstract void settle(ClaimHandler claim);

    @Override
    public void first() {
      CompletableFuture<Hold> unused = client.lock("ledger").acquireAsync(Duration.ofHours(1));
    }

    @Override
    public void second() {
      claims.forEach(this::settle); // None yet, if the first call was stopped before.
    }

    @Override
    public void check() {
      if (ended.get() == 0) {
        assertThat(waiters).as("acquires that wait").hasValue(1);
        claims.forEach(this::settle);
      }
      assertThat(waiters).as("acquires that wait, after the end").hasValue(0);
      assertThat(ended).as("ends").hasValue(1);
    }
  }

  /** The wait ends with a grant. */
  static final class WaitAndGrant extends WaitAndItsEnd {
    @Override
    void settle(ClaimHandler claim) {
      claim.granted(new Grant(7, new Validity(time.now(), LEASE)));
    }
  }

  /** The wait ends with an error. */
  static final class WaitAndFailure extends WaitAndItsEnd {
    @Override
    void settle(ClaimHandler claim) {
      claim.failed(new IllegalStateException("no"));
    }
  }

  /** The only thread of a lane ends, for want of work, while a task comes. */
  static final class EndOfAThreadAndTask implements Crossing {
    private final List<Runnable> started = new CopyOnWriteArrayList<>();
    private final AtomicInteger ran = new AtomicInteger();
    private final Workers workers = new Workers(1, 1, TimeUnit.NANOSECONDS, this::thread);

    EndOfAThreadAndTask() {
      workers.execute(ran::incrementAndGet);
    }

    /** A thread that runs when the test says so. */
    private Thread thread(Runnable work) {
      return new Thread() {
        @Override
        public void start() {
          started.add(work);
        }
      };
    }

    @Override
    public void first() {
      started.get(0).run();
    }

    @Override
    public void second() {
      workers.execute(ran::incrementAndGet);
    }

    @Override
    public void check() {
      started.stream().skip(1).forEach(Runnable::run);
      assertThat(ran).as("tasks that were run").hasValue(2);
      assertThat(workers.threads()).isZero();
    }
  }

  @Test
  void waitThatMeetsTheGrant_isNotCountedForEver() {
    assertThat(Preemptions.play(WaitAndGrant.class)).isGreaterThan(10);
  }

  @Test
  void waitThatMeetsAFailure_isNotCountedForEver() {
    assertThat(Preemptions.play(WaitAndFailure.class)).isGreaterThan(10);
  }

  @Test
  void taskThatMeetsTheEndOfTheOnlyThread_isRun() {
    assertThat(Preemptions.play(EndOfAThreadAndTask.class)).isGreaterThan(5);
  }

  @Test
  void renewalThatMeetsItsDeadline_isKeptOrLost_andNeverForgotten() {
    assertThat(Preemptions.play(RenewalAndDeadline.class)).isGreaterThan(10);
  }

  @Test
  void grantThatMeetsItsDeadline_isNotBegunAfterItsLoss() {
    assertThat(Preemptions.play(GrantAndDeadline.class)).isGreaterThan(10);
  }

  @Test
  void grantThatMeetsItsOwnEnd_isLost() {
    assertThat(Preemptions.play(GrantAndItsEnd.class)).isGreaterThan(10);
  }

  @Test
  void releaseThatMeetsTheClose_isARelease() {
    assertThat(Preemptions.play(ReleaseAndClose.class)).isGreaterThan(10);
  }

  @Test
  void releaseThatMeetsTheLossByClose_isNoOtherLoss() {
    assertThat(Preemptions.play(ReleaseAndLossByClose.class)).isGreaterThan(10);
  }

  @Test
  void lookThatMeetsARenewal_seesTheHoldAsItIs() {
    assertThat(Preemptions.play(RenewalAndLook.class)).isGreaterThan(10);
  }

  @Test
  void grantThatMeetsItsDeadlineAndTheCancel_isCountedOnce() {
    assertThat(Preemptions.play(GrantAndEveryoneGone.class)).isGreaterThan(10);
  }

  @Test
  void extensionsThatCross_endWithTheLeaseThatIsBelieved() {
    assertThat(Preemptions.play(ExtensionAndExtension.class)).isGreaterThan(10);
  }

  @Test
  void readerThatMeetsTheClose_isToldOfIt() {
    assertThat(Preemptions.play(ReaderAndClose.class)).isGreaterThan(10);
  }

  @Test
  void writerThatMeetsTheClose_isToldOfIt() {
    assertThat(Preemptions.play(WriterAndClose.class)).isGreaterThan(10);
  }
}
