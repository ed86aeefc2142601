package io.fenceline.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.ClientClosedException;
import io.fenceline.LockLostException;
import io.fenceline.spring.Locked;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An application that ends while its threads acquire, wait and release: nothing of it is left in
 * the database, whose pool is closed right after the client.
 */
@Timeout(600)
class ShutdownTest {
  private static final int ROUNDS = Integer.getInteger("fenceline.spring.shutdowns", 3);
  private static final int THREADS = 8;
  private static final Duration BOUND = Duration.ofMinutes(1);

  static class Work {
    private final AtomicInteger done = new AtomicInteger();

    /**
     * Two of six names are wanted by two threads, which wait; the others are released each time.
     */
    @Locked(name = "work:#{#thread % 6}", maxWait = "1m")
    public void run(int thread) {
      done.incrementAndGet();
    }

    public int done() {
      return done.get();
    }
  }

  @Test
  void contextThatIsClosedUnderLoad_leavesNoLockBehind() {
    try (PostgresServer postgres = PostgresServer.start()) {
      for (int i = 0; i < ROUNDS; i++) {
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        Boot.withDataSource()
            .withPropertyValues(
                "spring.datasource.url=" + postgres.jdbcUrl(),
                "spring.datasource.username=" + postgres.user(),
                "spring.datasource.password=" + postgres.password())
            .withBean(Work.class)
            .run(
                context -> {
                  Work work = context.getBean(Work.class);
                  for (int thread = 0; thread < THREADS; thread++) {
                    threads.add(callWithoutEnd(work, thread, failures));
                  }
                  Eventually.until(BOUND, "all are busy", () -> work.done() > 10 * THREADS);
                });
        assertThat(held(postgres)).as("locks held after shutdown %d", i).isZero();
        Eventually.until(
            BOUND, "every caller to fail", () -> threads.stream().noneMatch(Thread::isAlive));
        assertThat(failures)
            .hasSize(THREADS)
            .hasOnlyElementsOfTypes(ClientClosedException.class, LockLostException.class);
      }
    }
  }

  private static Thread callWithoutEnd(Work work, int number, Queue<Throwable> failures) {
    Thread thread =
        new Thread(
            () -> {
              while (true) {
                work.run(number);
              }
            },
            "work-" + number);
    thread.setUncaughtExceptionHandler((ended, failure) -> failures.add(failure));
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static int held(PostgresServer postgres) {
    return Integer.parseInt(
        postgres
            .sql(
                "SELECT (SELECT count(*) FROM fenceline_locks WHERE owner IS NOT NULL)"
                    + " + (SELECT count(*) FROM fenceline_claims)")
            .strip());
  }
}
