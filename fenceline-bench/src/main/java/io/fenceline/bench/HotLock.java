package io.fenceline.bench;

import com.sun.management.OperatingSystemMXBean;
import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One process, 32 threads, one lock: lock/unlock cycles per second on the memory store beside a
 * fair {@link ReentrantLock}, in interleaved rounds of one run.
 *
 * <p>Every cycle raises a plain counter under the lock, and the sum is checked afterwards, so a
 * lock that lets two in at once does not count as fast. Tokens are checked to rise.
 *
 * <pre>
 * java -cp … io.fenceline.bench.HotLock [threads] [rounds] [milliseconds a round]
 * </pre>
 */
public final class HotLock {
  private static final Duration LONG = Duration.ofMinutes(1);

  /** One lock/unlock with something in between. */
  private interface Cycle {
    void run(Guarded guarded) throws InterruptedException;
  }

  /** What the lock guards. */
  private static final class Guarded {
    private long count;
    private long lastToken;

    void enter(long token) {
      if (token <= lastToken) {
        throw new IllegalStateException("token " + token + " after " + lastToken);
      }
      lastToken = token;
      count++;
    }
  }

  /** What a round gave: the rate, and what a cycle cost, which other processes disturb less. */
  private record Result(double perSecond, double cpuMicros) {}

  private static final OperatingSystemMXBean CPU =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private HotLock() {}

  /** Runs it and prints one line a round, and the median of the ratios. */
  public static void main(String[] args) throws InterruptedException, ExecutionException {
    int threads = args.length > 0 ? Integer.parseInt(args[0]) : 32;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 9;
    long millis = args.length > 2 ? Long.parseLong(args[2]) : 1_000;
    double[] ratios = new double[rounds];
    try (Fenceline fenceline = Fenceline.connect("memory:bench")) {
      FencedLock fenced = fenceline.lock("hot");
      Cycle ours =
          guarded -> {
            try (Hold hold = fenced.acquire(LONG)) {
              guarded.enter(hold.token());
            }
          };
      ReentrantLock fair = new ReentrantLock(true);
      Cycle theirs =
          guarded -> {
            fair.lock();
            try {
              guarded.enter(guarded.lastToken + 1);
            } finally {
              fair.unlock();
            }
          };
      for (int warmUp = 0; warmUp < 3; warmUp++) {
        measure(ours, threads, millis);
        measure(theirs, threads, millis);
      }
      System.out.printf(
          "%5s %18s %18s %8s %26s%n",
          "round", "fair ReentrantLock", "Fenceline", "ratio", "CPU a cycle, each");
      for (int round = 0; round < rounds; round++) {
        Result reference = measure(theirs, threads, millis);
        Result measured = measure(ours, threads, millis);
        ratios[round] = measured.perSecond / reference.perSecond;
        System.out.printf(
            Locale.ROOT,
            "%5d %16.0f/s %16.0f/s %8.2f %9.1f us %9.1f us%n",
            round + 1,
            reference.perSecond,
            measured.perSecond,
            ratios[round],
            reference.cpuMicros,
            measured.cpuMicros);
      }
    }
    Arrays.sort(ratios);
    System.out.printf(
        Locale.ROOT,
        "median ratio %.2f (%d threads, %d rounds of %d ms)%n",
        ratios[rounds / 2],
        threads,
        rounds,
        millis);
  }

  private static Result measure(Cycle cycle, int threads, long millis)
      throws InterruptedException, ExecutionException {
    Guarded guarded = new Guarded();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      CountDownLatch ready = new CountDownLatch(threads);
      CountDownLatch go = new CountDownLatch(1);
      List<Future<Long>> counts = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        counts.add(
            pool.submit(
                () -> {
                  ready.countDown();
                  go.await();
                  long end = System.nanoTime() + millis * 1_000_000;
                  long cycles = 0;
                  while (System.nanoTime() < end) {
                    cycle.run(guarded);
                    cycles++;
                  }
                  return cycles;
                }));
      }
      ready.await();
      long start = System.nanoTime();
      long cpuStart = CPU.getProcessCpuTime();
      go.countDown();
      long sum = 0;
      for (Future<Long> count : counts) {
        sum += count.get();
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      double cpuMicros = (CPU.getProcessCpuTime() - cpuStart) / 1e3;
      if (sum != guarded.count) {
        throw new IllegalStateException(sum + " cycles, but the counter says " + guarded.count);
      }
      return new Result(sum / seconds, cpuMicros / sum);
    } finally {
      pool.shutdown();
    }
  }
}
