package io.fenceline.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Acquirable;
import io.fenceline.FencelineException;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Blocking and asynchronous calls do the same: each scenario is played in both ways. */
abstract class ParityBehaviour extends Scenario {

  ParityBehaviour(LockContract contract) {
    super(contract::harness);
  }

  /** One of the two ways to use a lock. What it does goes on by itself until it is asked for. */
  private interface Way {
    <H extends Held> Outcome<H> acquire(Acquirable<H> lock, Duration maxWait);

    <H extends Held> Outcome<Optional<H>> tryAcquire(Acquirable<H> lock);

    Outcome<?> release(Held held);

    void giveUp(Outcome<?> outcome);
  }

  /** What a call gave or threw. */
  private interface Outcome<T> {
    boolean isDone();

    T value();

    Throwable failure();
  }

  private final class Blocking implements Way {
    private record InThread<T>(Blocked<T> thread) implements Outcome<T> {
      @Override
      public boolean isDone() {
        return thread.isDone();
      }

      @Override
      public T value() {
        return thread.result();
      }

      @Override
      public Throwable failure() {
        return thread.failure();
      }
    }

    @Override
    public <H extends Held> Outcome<H> acquire(Acquirable<H> lock, Duration maxWait) {
      return new InThread<>(acquiring(lock, maxWait));
    }

    @Override
    public <H extends Held> Outcome<Optional<H>> tryAcquire(Acquirable<H> lock) {
      return new InThread<>(inThread(lock::tryAcquire));
    }

    @Override
    public Outcome<?> release(Held held) {
      return new InThread<>(inThread(held::release));
    }

    @Override
    public void giveUp(Outcome<?> outcome) {
      ((InThread<?>) outcome).thread.interrupt();
    }
  }

  private final class Asynchronous implements Way {
    private final class InFuture<T> implements Outcome<T> {
      private final CompletableFuture<T> future;

      InFuture(CompletableFuture<T> future) {
        this.future = future;
      }

      @Override
      public boolean isDone() {
        return future.isDone();
      }

      @Override
      public T value() {
        return get(future);
      }

      @Override
      public Throwable failure() {
        return ParityBehaviour.this.failure(future);
      }
    }

    @Override
    public <H extends Held> Outcome<H> acquire(Acquirable<H> lock, Duration maxWait) {
      return new InFuture<>(lock.acquireAsync(maxWait));
    }

    @Override
    public <H extends Held> Outcome<Optional<H>> tryAcquire(Acquirable<H> lock) {
      return new InFuture<>(lock.tryAcquireAsync());
    }

    @Override
    public Outcome<?> release(Held held) {
      return new InFuture<>(held.releaseAsync());
    }

    @Override
    public void giveUp(Outcome<?> outcome) {
      ((InFuture<?>) outcome).future.cancel(true);
    }
  }

  /** Plays a scenario in both ways, each on a name of its own, and compares what it noted. */
  private void sameInBothWays(Function<Stage, List<Object>> scenario) {
    List<Object> blocking = scenario.apply(new Stage(new Blocking(), name("blocking")));
    List<Object> asynchronous = scenario.apply(new Stage(new Asynchronous(), name("async")));

    assertThat(asynchronous).isEqualTo(blocking).isNotEmpty();
  }

  private record Stage(Way way, String name) {}

  private static Object kind(Throwable thrown) {
    return thrown instanceof FencelineException ? thrown.getClass() : "gave up";
  }

  @Test
  void acquireReleaseAndTry_areAlike() {
    sameInBothWays(
        stage -> {
          List<Object> noted = new ArrayList<>();
          Hold hold = stage.way.acquire(a.lock(stage.name), ample).value();
          noted.add(hold.isValid());
          noted.add(stage.way.tryAcquire(b.lock(stage.name)).value().isPresent());
          noted.add(stage.way.release(hold).value());
          noted.add(stage.way.release(hold).value());
          noted.add(stage.way.tryAcquire(b.lock(stage.name)).value().isPresent());
          return noted;
        });
  }

  @Test
  void waiting_isAlike() {
    sameInBothWays(
        stage -> {
          Hold first = a.take(stage.name);
          Outcome<Hold> waiting = stage.way.acquire(b.lock(stage.name), ample);
          awaitContended(b, stage.name, 1);
          boolean early = waiting.isDone();
          stage.way.release(first).value();
          return List.of(early, waiting.value().token() > first.token());
        });
  }

  @Test
  void timeouts_areAlike() {
    sameInBothWays(
        stage -> {
          a.take(stage.name);
          Outcome<Hold> now = stage.way.acquire(b.lock(stage.name), Duration.ZERO);
          Object atOnce = kind(now.failure());
          Outcome<Hold> later = stage.way.acquire(b.lock(stage.name), lease.dividedBy(2));
          awaitContended(b, stage.name, 1);
          elapse(lease.dividedBy(2));
          return List.of(atOnce, kind(later.failure()));
        });
  }

  @Test
  void givingUp_isAlike() {
    sameInBothWays(
        stage -> {
          Hold first = a.take(stage.name);
          Outcome<Hold> waiting = stage.way.acquire(b.lock(stage.name), ample);
          awaitContended(b, stage.name, 1);
          stage.way.giveUp(waiting);
          Object thrown = kind(waiting.failure());
          first.release();
          awaitFree(c, stage.name);
          // Where nobody queues, a late request of the one that gave up may be in the way for a
          // moment.
          return List.of(thrown, stage.way.acquire(c.lock(stage.name), ample).value().isValid());
        });
  }

  @Test
  void loss_isAlike() {
    sameInBothWays(
        stage -> {
          Hold hold = stage.way.acquire(a.lock(stage.name, fixed()), ample).value();
          elapseUntilFree(b, stage.name, lease);
          return List.of(hold.isValid(), stage.way.release(hold).value());
        });
  }

  @Test
  void storeThatIsDown_isAlike() {
    sameInBothWays(
        stage -> {
          a.store().fault(LossyStore.Fault.LOSE_REQUEST);
          Object tried = kind(stage.way.tryAcquire(a.lock(stage.name)).failure());
          int before = a.store().asked(LossyStore.Operation.CLAIM);
          Outcome<Hold> asking = stage.way.acquire(a.lock(stage.name), lease.dividedBy(4));
          await("a claim", () -> a.store().asked(LossyStore.Operation.CLAIM) > before);
          elapse(lease.dividedBy(4));
          Object acquired = kind(asking.failure());
          a.store().heal();
          return List.of(tried, acquired);
        });
  }

  @Test
  void retries_areAlike() {
    LockOptions options =
        renewed().waiting(WaitStrategy.retry(2, lease.dividedBy(10), Duration.ZERO));
    sameInBothWays(
        stage -> {
          a.take(stage.name);
          Peer d = peer("d");
          Outcome<Hold> asking = stage.way.acquire(d.lock(stage.name, options), ample);
          await(
              "the end of the retries",
              () -> {
                elapse(lease.dividedBy(20));
                return asking.isDone();
              });
          return List.of(kind(asking.failure()), d.store().asked(LossyStore.Operation.CLAIM));
        });
  }

  @Test
  void severalNames_areAlike() {
    sameInBothWays(
        stage -> {
          List<String> names = List.of(stage.name + "/2", stage.name + "/1");
          Held all = stage.way.acquire(a.fenceline().lockAll(names, renewed()), ample).value();
          boolean taken = b.tryTake(names.get(0)).isEmpty() && b.tryTake(names.get(1)).isEmpty();
          Object released = stage.way.release(all).value();
          b.take(names.get(0));
          Outcome<? extends Optional<?>> half =
              stage.way.tryAcquire(a.fenceline().lockAll(names, renewed()));
          return List.of(taken, released, half.value().isPresent());
        });
  }

  @Test
  void permitsAndReaders_areAlike() {
    if (!gives(Guarantee.SHARED_MODE) || !gives(Guarantee.PERMITS)) {
      return; // The groups of these modes assert that they are refused.
    }
    sameInBothWays(
        stage -> {
          var readers = a.fenceline().readWriteLock(stage.name).readLock();
          Held one = stage.way.acquire(readers, ample).value();
          boolean two = stage.way.tryAcquire(readers).value().isPresent();
          boolean writer = stage.way.tryAcquire(b.lock(stage.name)).value().isPresent();
          var semaphore = b.fenceline().semaphore(stage.name, 2);
          Object conflict = kind(stage.way.acquire(semaphore, ample).failure());
          return List.of(one.isValid(), two, writer, conflict);
        });
  }
}
