package io.fenceline.testkit;

import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Time that passes only when a test says so.
 *
 * <pre>{@code
 * ManualTime time = new ManualTime();
 * try (Fenceline fenceline = Fenceline.builder().store("memory:").time(time).connect()) {
 *   Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
 *   time.advance(Duration.ofHours(1));
 *   assertThat(hold.isValid()).isTrue(); // It was renewed meanwhile.
 * }
 * }</pre>
 *
 * <p>Timers run on the thread that advances, each at its own time. Work of the lanes runs at once
 * on the thread that hands it in, or, if that is itself such work, right after it. Threads that
 * wait for time to pass wait until it is advanced.
 *
 * <p>Thread-safe, so that a test can block in one thread and advance in another.
 */
public final class ManualTime implements Time {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private record Due(long nanos, long sequence) implements Comparable<Due> {
    @Override
    public int compareTo(Due other) {
      int byTime = Long.compare(nanos, other.nanos);
      return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
    }
  }

  private final TreeMap<Due, Runnable> timers = new TreeMap<>();
  private final List<Thread> parked = new ArrayList<>();

  @SuppressWarnings("ThreadLocalUsage") // It belongs to this time, and is removed after each run.
  private final ThreadLocal<@Nullable ArrayDeque<Runnable>> running = new ThreadLocal<>();

  private final Set<Thread> working = ConcurrentHashMap.newKeySet();

  private long nanos;
  private long wallMillis = START.toEpochMilli();
  private long sequence;

  /** A time that stands still. */
  public ManualTime() {}

  /** Lets time pass on both clocks, and runs every timer that becomes due, in order. */
  public void advance(Duration duration) {
    long target;
    synchronized (this) {
      target = nanos + duration.toNanos();
    }
    while (runNext(target)) {
      // Each timer may set others that are due before the target, too.
    }
    moveTo(target);
  }

  private boolean runNext(long target) {
    Runnable task;
    synchronized (this) {
      if (timers.isEmpty() || timers.firstKey().nanos() > target) {
        return false;
      }
      Due due = timers.firstKey();
      task = Objects.requireNonNull(timers.remove(due));
      moveTo(Math.max(nanos, due.nanos()));
    }
    task.run();
    return true;
  }

  private void moveTo(long target) {
    List<Thread> wake;
    synchronized (this) {
      wallMillis += target / 1_000_000 - nanos / 1_000_000;
      nanos = target;
      wake = List.copyOf(parked);
    }
    wake.forEach(LockSupport::unpark);
  }

  /** Sets the wall clock forward or back; the monotonic clock does not notice. */
  public synchronized void jumpWall(Duration by) {
    wallMillis += by.toMillis();
  }

  /**
   * Lets the process sleep for a while: time passes, but nothing runs, and the timers that became
   * due run only with the next {@link #advance}. This is a pause past the lease.
   */
  public void pause(Duration duration) {
    synchronized (this) {
      moveTo(nanos + duration.toNanos());
    }
  }

  /** Returns how many timers are set; a test of what is left behind counts them. */
  public synchronized int timers() {
    return timers.size();
  }

  @Override
  public synchronized long nanos() {
    return nanos;
  }

  @Override
  public synchronized long wallMillis() {
    return wallMillis;
  }

  @Override
  public synchronized Timer schedule(long delayNanos, Runnable task) {
    Due due = new Due(nanos + Math.max(0, delayNanos), sequence++);
    timers.put(due, task);
    return () -> {
      synchronized (this) {
        timers.remove(due);
      }
    };
  }

  @Override
  public Executor lane(Lane lane) {
    return task -> {
      ArrayDeque<Runnable> after = running.get();
      if (after != null) {
        after.add(task);
        return;
      }
      runThrough(task);
    };
  }

  private void runThrough(Runnable first) {
    ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    tasks.add(first);
    running.set(tasks);
    working.add(Thread.currentThread());
    try {
      runAll(tasks);
    } finally {
      working.remove(Thread.currentThread());
      running.remove();
    }
  }

  /** Each task stands for a thread of its own: what one of them throws keeps none from running. */
  private static void runAll(ArrayDeque<Runnable> tasks) {
    Throwable first = null;
    Runnable task;
    while ((task = tasks.poll()) != null) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        first = first == null ? e : first;
      }
    }
    if (first instanceof Error error) {
      throw error;
    } else if (first instanceof RuntimeException exception) {
      throw exception;
    }
  }

  @Override
  public void park(Object blocker, long maxNanos) {
    long until;
    synchronized (this) {
      if (maxNanos <= 0) {
        return;
      }
      until = nanos + Math.min(maxNanos, Long.MAX_VALUE / 4);
      parked.add(Thread.currentThread());
    }
    try {
      if (nanos() < until) {
        LockSupport.park(blocker);
      }
    } finally {
      synchronized (this) {
        parked.remove(Thread.currentThread());
      }
    }
  }

  /** Waits, in real time and with a bound, until this many threads are parked in this time. */
  public void awaitParked(int threads) {
    long bound = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (parkedThreads() < threads) {
      if (System.nanoTime() > bound) {
        throw new AssertionError(
            "only " + parkedThreads() + " of " + threads + " threads wait for this time");
      }
      Thread.onSpinWait();
      LockSupport.parkNanos(100_000);
    }
  }

  /**
   * Waits, in real time and with a bound, until no other thread is busy with work of the lanes.
   *
   * <p>A thread of a driver hands such work in at any moment. Time that is advanced by a minute
   * meanwhile makes that thread's client one that stood still for a minute. Work that itself waits,
   * be it for this time or for another thread, is not waited for.
   */
  public void awaitWork() {
    long bound = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (othersWork() && System.nanoTime() < bound) {
      Thread.onSpinWait();
      LockSupport.parkNanos(100_000);
    }
  }

  private boolean othersWork() {
    for (Thread thread : working) {
      if (thread != Thread.currentThread() && thread.getState() == Thread.State.RUNNABLE) {
        return true;
      }
    }
    return false;
  }

  private synchronized int parkedThreads() {
    return parked.size();
  }

  @Override
  public void close() {
    synchronized (this) {
      timers.clear();
    }
  }
}
