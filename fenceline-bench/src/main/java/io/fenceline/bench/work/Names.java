package io.fenceline.bench.work;

import io.fenceline.Fenceline;
import io.fenceline.bench.store.Venue;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What one more lock costs, by how many names the store knows.
 *
 * <p>The names are all held, on leases that outlast the measurement, by claims that are placed at
 * the store directly: nothing renews them, so that what is seen is the store and not the renewals.
 * The cycles are those of another client on another name.
 */
public final class Names {
  private static final Duration LONGEST_LEASE = Duration.ofHours(1);
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int AT_ONCE = 256;
  private static final int ROUNDS = 5;
  private static final double LONGEST_SECONDS = 60;
  private static final long BOUND_SECONDS = 60;

  private Names() {}

  /**
   * One point of the curve.
   *
   * @param live how many names are held
   * @param cyclesPerSecond solo cycles on another name, median
   * @param clientMicros CPU time of the client for one cycle
   * @param serverMicros CPU time of the server for one cycle
   * @param takeMicros what it took to take one of the names, mean
   * @param serverBytes memory or disk of the server for one name
   */
  public record Point(
      int live,
      double cyclesPerSecond,
      double clientMicros,
      double serverMicros,
      double takeMicros,
      double serverBytes) {}

  /** Takes names at the store, not all at once, and remembers what went wrong. */
  private static final class Taking {
    final Semaphore room = new Semaphore(AT_ONCE);
    final AtomicReference<RuntimeException> failure = new AtomicReference<>();
    private final LockStore store;
    private final Duration lease;

    Taking(LockStore store, Duration lease) {
      this.store = store;
      this.lease = lease;
    }

    void take(String name) throws InterruptedException {
      acquire(1);
      ClaimRequest request =
          new ClaimRequest(name, Owner.draw(RANDOM), Mode.EXCLUSIVE, lease, Duration.ZERO, false);
      store.claim(
          request,
          new ClaimHandler() {
            @Override
            public void granted(Grant grant) {
              room.release();
            }

            @Override
            public void waiting(Obstacle obstacle) {
              failed(new BrokenLockException(name + " was told to wait"));
            }

            @Override
            public void refused(Obstacle obstacle) {
              failed(new BrokenLockException(name + " was refused, and nobody has it"));
            }

            @Override
            public void failed(RuntimeException cause) {
              failure.compareAndSet(null, cause);
              room.release();
            }
          });
    }

    void acquire(int count) throws InterruptedException {
      if (!room.tryAcquire(count, BOUND_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("a claim was not answered");
      }
      RuntimeException cause = failure.get();
      if (cause != null) {
        throw cause;
      }
    }
  }

  /** Measures all points; the names stay held, so nothing should be measured after it. */
  public static List<Point> measure(Venue venue, Effort effort, Progress progress)
      throws Exception {
    progress.begin("names");
    try (Stores.Opened holder = Stores.open(venue);
        Fenceline client =
            Fenceline.builder().store(venue.address()).connectTimeout(Stores.CONNECT).connect()) {
      Duration longest = holder.store().guarantees().leases().longest();
      Duration lease = longest.compareTo(LONGEST_LEASE) < 0 ? longest : LONGEST_LEASE;
      Taking taking = new Taking(holder.store(), lease);
      SoloCycles cycles = new SoloCycles(client.lock("one-more"));
      cycles.run(effort.settle().millis());
      long emptyBytes = venue.memoryBytes();
      List<Point> points = new ArrayList<>();
      int taken = 0;
      double secondsEach = 0;
      for (int live : effort.names()) {
        if (secondsEach * (live - taken) > LONGEST_SECONDS) {
          progress.skip(
              "%,d names: taking them would take more than a minute (%.0f µs each)"
                  .formatted(live, secondsEach * 1e6));
          break;
        }
        long start = System.nanoTime();
        int before = taken;
        for (; taken < live; taken++) {
          taking.take("live-" + taken);
        }
        taking.acquire(AT_ONCE);
        taking.room.release(AT_ONCE);
        secondsEach = (System.nanoTime() - start) / 1e9 / (live - before);
        double bytes = (venue.memoryBytes() - emptyBytes) / (double) live;
        points.add(point(venue, effort, live, cycles, secondsEach * 1e6, bytes));
        checkHeld(holder.store(), "live-0");
        checkHeld(holder.store(), "live-" + (live - 1));
        progress.step();
      }
      progress.end();
      return points;
    }
  }

  private static Point point(
      Venue venue, Effort effort, int live, SoloCycles cycles, double takeMicros, double bytes)
      throws InterruptedException {
    double[] perSecond = new double[ROUNDS];
    long done = 0;
    long cpu = Crew.clientNanos();
    long serverCpu = venue.cpuNanos();
    for (int i = 0; i < ROUNDS; i++) {
      long start = System.nanoTime();
      long round = cycles.run(effort.hot().millis());
      perSecond[i] = round / ((System.nanoTime() - start) / 1e9);
      done += round;
    }
    return new Point(
        live,
        Ratio.median(perSecond),
        (Crew.clientNanos() - cpu) / 1e3 / done,
        (venue.cpuNanos() - serverCpu) / 1e3 / done,
        takeMicros,
        bytes);
  }

  /** That the store did know them while it was measured. */
  private static void checkHeld(LockStore store, String name) throws Exception {
    NameState state = store.inspect(name).get(BOUND_SECONDS, TimeUnit.SECONDS);
    if (state.holders().isEmpty()) {
      throw new BrokenLockException(name + " is not held any more");
    }
  }
}
