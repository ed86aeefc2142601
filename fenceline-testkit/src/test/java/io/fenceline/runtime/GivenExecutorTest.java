package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LockListener;
import io.fenceline.event.Released;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The user's own executor, for what may block or take long. */
class GivenExecutorTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final Set<String> threads = ConcurrentHashMap.newKeySet();

  private FencelineBuilder builder() {
    return Fenceline.builder()
        .store(MemorySpace.create(System::currentTimeMillis).factory())
        .listener(
            new LockListener() {
              @Override
              public void onReleased(Released event) {
                threads.add("released on " + Thread.currentThread().getName());
              }
            });
  }

  @Test
  void listenersAndCallbacks_runThere() throws Exception {
    ExecutorService given =
        Executors.newCachedThreadPool(task -> new Thread(task, "given-by-the-user"));
    try (Fenceline fenceline = builder().executor(given).connect()) {
      Hold hold =
          fenceline
              .lock("ledger")
              .acquireAsync(BOUND)
              .thenApply(
                  got -> {
                    threads.add(Thread.currentThread().getName());
                    return got;
                  })
              .get();
      hold.release();
      Eventually.until(
          BOUND, "the listener", () -> threads.contains("released on given-by-the-user"));
    } finally {
      given.shutdown();
    }
    assertThat(threads).allMatch(name -> name.endsWith("given-by-the-user") || name.equals("main"));
  }

  @Test
  void whatItRejects_runsOnAThreadOfTheClient() {
    try (Fenceline fenceline =
        builder()
            .executor(
                task -> {
                  throw new RejectedExecutionException("full");
                })
            .connect()) {
      fenceline.lock("ledger").tryAcquire().orElseThrow().release();
      Eventually.until(
          BOUND,
          "the listener",
          () -> threads.stream().anyMatch(name -> name.startsWith("released on fenceline-event")));
    }
  }

  /** Such as the lack of memory for another thread. */
  private static final class NoThread extends Error {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void whatItCanNotStart_runsOnAThreadOfTheClient_once() throws Exception {
    AtomicInteger runs = new AtomicInteger();
    try (Fenceline fenceline =
        builder()
            .executor(
                task -> {
                  if (runs.getAndIncrement() % 2 == 0) {
                    task.run(); // Some throw though they have taken it.
                  }
                  throw new NoThread();
                })
            .connect()) {
      for (int i = 0; i < 4; i++) {
        Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
        CompletableFuture<Hold> next = fenceline.lock("ledger").acquireAsync(BOUND);
        AtomicInteger told = new AtomicInteger();
        CompletableFuture<Hold> released =
            next.whenComplete((got, failure) -> told.incrementAndGet());

        assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(released.get(BOUND.toSeconds(), TimeUnit.SECONDS).release())
            .isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(told).hasValue(1);
      }
    }
    assertThat(runs).hasPositiveValue();
  }

  @Test
  void itIsNotShutDownWithTheClient() {
    ExecutorService given = Executors.newCachedThreadPool();
    builder().executor(given).connect().close();
    assertThat(given.isShutdown()).isFalse();
    given.shutdown();
  }
}
