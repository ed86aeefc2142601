package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * That a server which is restarted, in good order or by a crash, while it is busy forgets no grant,
 * serves who waited, and lets nobody in twice; the same for each server.
 */
final class Restarts {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final LockOptions LONG_LEASE = LockOptions.defaults().lease(BOUND);

  /** Longer than a machine stands still, and over before the test is if a release gets lost. */
  private static final LockOptions TURN = LockOptions.defaults().lease(Duration.ofSeconds(5));

  private Restarts() {}

  static void check(ServerProcess server, String url, boolean crash) throws Exception {
    String name = "restarted-" + crash;
    try (Fenceline one = connect(url);
        Fenceline two = connect(url);
        Load load = new Load(name + "-busy", List.of(one, one, two))) {
      assertThat(one.guarantees().durable()).isEqualTo(Certainty.YES);
      Hold hold = one.lock(name).tryAcquire(BOUND).orElseThrow();
      CompletableFuture<Hold> waiting = two.lock(name).acquireAsync(BOUND);
      Eventually.until(BOUND, "the queue", () -> one.inspect(name).waiters().size() == 1);
      load.awaitMore();
      Hold last = one.lock(name + "-last").tryAcquire(BOUND).orElseThrow();
      long pid = server.pid();

      if (crash) {
        server.kill();
      }
      server.restart();

      assertThat(server.pid()).isNotEqualTo(pid);
      Eventually.until(BOUND, "an answer", () -> one.inspect(name + "-last").holders().size() == 1);
      assertThat(one.inspect(name).holders().get(0).token()).isEqualTo(hold.token());
      assertThat(two.lock(name + "-last").tryAcquire()).isEmpty();
      assertThat(hold.isValid()).isTrue();
      assertThat(waiting).isNotDone();
      load.awaitMore();

      assertThat(hold.release()).isIn(ReleaseOutcome.RELEASED, ReleaseOutcome.UNKNOWN);
      Hold next = waiting.get();
      assertThat(next.token()).isGreaterThan(hold.token());
      next.close();
      last.close();
    }
  }

  private static Fenceline connect(String url) {
    return Fenceline.builder().store(url).defaultOptions(LONG_LEASE).connect();
  }

  /** Threads that take turns at one name, and see that they are alone and that tokens rise. */
  private static final class Load implements AutoCloseable {
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong largest = new AtomicLong();
    private final AtomicLong turns = new AtomicLong();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final List<Throwable> wrong = new CopyOnWriteArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    Load(String name, List<Fenceline> clients) {
      for (Fenceline client : clients) {
        Thread thread = new Thread(() -> takeTurns(client, name), name);
        threads.add(thread);
        thread.start();
      }
    }

    private void takeTurns(Fenceline client, String name) {
      try {
        while (!ended.get()) {
          try (Hold hold = client.lock(name, TURN).acquire(BOUND)) {
            assertThat(inside.getAndIncrement()).as("others inside").isZero();
            assertThat(hold.token()).isGreaterThan(largest.getAndSet(hold.token()));
            inside.decrementAndGet();
            turns.incrementAndGet();
          } catch (StoreUnavailableException e) {
            continue; // The server is away.
          }
        }
      } catch (Throwable e) {
        wrong.add(e);
      }
    }

    void awaitMore() {
      long before = turns.get();
      Eventually.until(
          BOUND, "more turns", () -> turns.get() > before + threads.size() || !wrong.isEmpty());
      assertThat(wrong).isEmpty();
    }

    @Override
    public void close() {
      ended.set(true);
      Eventually.until(BOUND, "the threads", () -> threads.stream().noneMatch(Thread::isAlive));
      assertThat(wrong).isEmpty();
    }
  }
}
