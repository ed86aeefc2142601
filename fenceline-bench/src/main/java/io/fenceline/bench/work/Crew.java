package io.fenceline.bench.work;

import com.sun.management.OperatingSystemMXBean;
import io.fenceline.bench.contender.Contender;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntFunction;

/**
 * Threads that go through lock cycles together; the same threads for all contenders and rounds, so
 * that what belongs to a thread is made once.
 */
final class Crew implements AutoCloseable {
  private static final OperatingSystemMXBean CPU =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

  private final List<Worker> workers = new ArrayList<>();

  /**
   * What a turn gave.
   *
   * @param cycles how many
   * @param seconds in what time
   * @param cpuMicros CPU time of this process
   * @param compilerMicros how long its compiler was at work, on all its threads
   */
  record Turn(long cycles, double seconds, double cpuMicros, double compilerMicros) {}

  Crew(int threads) {
    for (int i = 0; i < threads; i++) {
      workers.add(new Worker(i));
    }
  }

  /** CPU time of this process. */
  static long clientNanos() {
    return CPU.getProcessCpuTime();
  }

  /** How long the compiler of this process has been at work, on all its threads. */
  static long compilerMillis() {
    return COMPILER.getTotalCompilationTime();
  }

  /**
   * Runs for a time. The clock runs while all are at it: a thread that is alone at the start, until
   * the others have woken up, would be fast for nothing.
   *
   * @param whenAllAreAtIt told when the clock starts
   */
  Turn run(
      Contender contender,
      IntFunction<String> names,
      long stayNanos,
      long millis,
      Runnable whenAllAreAtIt)
      throws Exception {
    Shift shift = new Shift(contender, names, stayNanos, Long.MAX_VALUE);
    shift.awaitAll();
    whenAllAreAtIt.run();
    long before = shift.cycles();
    long start = System.nanoTime();
    long cpuStart = CPU.getProcessCpuTime();
    long compilerStart = COMPILER.getTotalCompilationTime();
    Thread.sleep(millis);
    long cpu = CPU.getProcessCpuTime() - cpuStart;
    long compiler = COMPILER.getTotalCompilationTime() - compilerStart;
    double seconds = (System.nanoTime() - start) / 1e9;
    long cycles = shift.cycles() - before;
    shift.end();
    return new Turn(cycles, seconds, cpu / 1e3, compiler * 1e3);
  }

  /** Runs a number of cycles on each thread, and gives how many there were. */
  long runCycles(Contender contender, IntFunction<String> names, long cycles) throws Exception {
    Shift shift = new Shift(contender, names, 0, cycles);
    shift.end();
    return shift.cycles();
  }

  /** All threads at work. */
  private final class Shift {
    /** Counts of different threads are not on one line of the cache. */
    private static final int APART = 16;

    private static final long PATIENCE_NANOS = 3_000_000_000L;

    private final AtomicLongArray counts = new AtomicLongArray(workers.size() * APART);
    private final Map<String, Guarded> guards = new HashMap<>();
    private final List<CompletableFuture<Void>> ends = new ArrayList<>();
    private final boolean endless;
    private volatile boolean stopped;

    Shift(Contender contender, IntFunction<String> names, long stayNanos, long limit)
        throws InterruptedException {
      this.endless = limit == Long.MAX_VALUE;
      CountDownLatch ready = new CountDownLatch(workers.size());
      CountDownLatch go = new CountDownLatch(1);
      for (Worker worker : workers) {
        String name = names.apply(worker.number);
        Guarded guarded = guards.computeIfAbsent(name, any -> new Guarded(stayNanos));
        ends.add(
            worker.submit(
                () -> {
                  Contender.Cycle cycle;
                  try {
                    cycle = worker.cycle(contender, name);
                  } finally {
                    ready.countDown();
                  }
                  go.await();
                  for (long done = 1; done <= limit && !stopped; done++) {
                    cycle.run(guarded);
                    counts.lazySet(worker.number * APART, done);
                  }
                }));
      }
      ready.await();
      go.countDown();
    }

    /** Waits until each has done something; not for ever, since not all locks are fair. */
    void awaitAll() throws Exception {
      long end = System.nanoTime() + PATIENCE_NANOS;
      for (int i = 0; i < workers.size(); i++) {
        while (counts.get(i * APART) == 0 && System.nanoTime() < end && !ends.get(i).isDone()) {
          Thread.sleep(1);
        }
      }
    }

    long cycles() {
      long sum = 0;
      for (int i = 0; i < workers.size(); i++) {
        sum += counts.get(i * APART);
      }
      return sum;
    }

    /** Waits for the end, and checks that nobody met anybody. */
    void end() throws Exception {
      stopped = endless;
      for (CompletableFuture<Void> end : ends) {
        end.get();
      }
      long counted = guards.values().stream().mapToLong(Guarded::count).sum();
      if (counted != cycles()) {
        throw new BrokenLockException(
            cycles() + " cycles, but the guarded counters say " + counted);
      }
    }
  }

  @Override
  public void close() {
    workers.forEach(Worker::end);
  }

  /** A task of a worker. */
  private interface Task {
    void run() throws Exception;
  }

  private static final class Worker extends Thread {
    final int number;
    private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Map<Contender, Map<String, Contender.Cycle>> cycles = new HashMap<>();

    Worker(int number) {
      super("worker-" + number);
      this.number = number;
      setDaemon(true);
      start();
    }

    CompletableFuture<Void> submit(Task task) {
      CompletableFuture<Void> result = new CompletableFuture<>();
      tasks.add(
          () -> {
            try {
              task.run();
              result.complete(null);
            } catch (Throwable e) { // Whatever it is, the run has failed by it.
              result.completeExceptionally(e);
            }
          });
      return result;
    }

    Contender.Cycle cycle(Contender contender, String name) throws Exception {
      Map<String, Contender.Cycle> known =
          cycles.computeIfAbsent(contender, any -> new HashMap<>());
      Contender.Cycle cycle = known.get(name);
      if (cycle == null) {
        cycle = contender.on(name);
        known.put(name, cycle);
      }
      return cycle;
    }

    void end() {
      tasks.add(this::interrupt);
    }

    @Override
    public void run() {
      try {
        while (true) {
          tasks.take().run();
        }
      } catch (InterruptedException e) {
        // The end.
      }
    }
  }
}
