package io.fenceline.bench.work;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.bench.store.Venue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * What it costs to hold many names: the renewals, the memory, and what a cycle of another name
 * costs beside them.
 *
 * <p>They are watched for a third of their lease, in which each is renewed once. What a client and
 * a server use while nothing is held is taken off.
 */
public final class Holds {
  private static final int CYCLES_MILLIS = 500;
  private static final int WARM_UP_HOLDS = 1_000;
  private static final int IDLE_SECONDS = 2;
  private static final int AT_ONCE = 256;
  private static final double LONGEST_SECONDS = 90;

  private Holds() {}

  /**
   * One point of the curve.
   *
   * @param held how many names are held
   * @param clientMicros CPU time of the client for one renewal of one hold
   * @param serverMicros CPU time of the server for one renewal of one hold
   * @param perSecond what came over the wire while all were held, by kind and second
   * @param clientBytes memory of the client for one hold
   * @param serverBytes memory or disk of the server for one hold
   * @param cyclesPerSecond solo cycles on another name, while all were held
   * @param lost how many holds were lost; none should be
   */
  public record Point(
      int held,
      double clientMicros,
      double serverMicros,
      List<Series.PerCycle> perSecond,
      double clientBytes,
      double serverBytes,
      double cyclesPerSecond,
      int lost) {}

  /** Measures all points, each with a client of its own. */
  public static List<Point> measure(Venue venue, Effort effort, Progress progress)
      throws Exception {
    progress.begin("holds");
    List<Point> points = new ArrayList<>();
    double secondsEach = 0;
    if (effort.heldSeconds() > IDLE_SECONDS) {
      point(venue, WARM_UP_HOLDS, IDLE_SECONDS);
    }
    for (int count : effort.holds()) {
      if (secondsEach * count > LONGEST_SECONDS) {
        progress.skip(
            "%,d holds: taking them would take more than a minute (%.0f µs each)"
                .formatted(count, secondsEach * 1e6));
        break;
      }
      long start = System.nanoTime();
      points.add(point(venue, count, effort.heldSeconds()));
      secondsEach =
          Math.max(0, (System.nanoTime() - start) / 1e9 - 2 * effort.heldSeconds() - 3) / count;
      progress.step();
    }
    progress.end();
    return points;
  }

  private static Point point(Venue venue, int count, int watchedSeconds) throws Exception {
    AtomicInteger lost = new AtomicInteger();
    try (Fenceline client =
        Fenceline.builder()
            .store(venue.address())
            .defaultOptions(LockOptions.defaults().lease(Duration.ofSeconds(3L * watchedSeconds)))
            .connectTimeout(Stores.CONNECT)
            .operationTimeout(Duration.ofSeconds(8))
            .connect()) {
      long memory = usedMemory();
      long serverMemory = venue.memoryBytes();
      List<Hold> holds = acquire(client, count);
      for (Hold hold : holds) {
        hold.onLost(loss -> lost.incrementAndGet());
      }
      double clientBytes = (usedMemory() - memory) / (double) count;
      double serverBytes = (venue.memoryBytes() - serverMemory) / (double) count;

      Used used = Used.in(venue, watchedSeconds);
      double cycles = new SoloCycles(client.lock("beside")).perSecond(CYCLES_MILLIS);
      // Not while CPU time is taken: the server's telling costs more than the renewals.
      Venue.Wire wire = venue.count();
      double counted = Used.in(venue, watchedSeconds).seconds;
      List<Series.PerCycle> perSecond =
          wire.stop().stream()
              .map(sent -> new Series.PerCycle(sent.kind(), sent.total() / counted))
              .toList();
      release(holds);

      Used idle = Used.in(venue, Math.min(watchedSeconds, IDLE_SECONDS));
      double renewals = count * used.seconds / watchedSeconds;
      double clientMicros = Math.max(0, used.client - idle.client) * used.seconds / renewals;
      double serverMicros = Math.max(0, used.server - idle.server) * used.seconds / renewals;
      return new Point(
          count,
          clientMicros,
          serverMicros,
          perSecond,
          clientBytes,
          serverBytes,
          cycles,
          lost.get());
    }
  }

  /**
   * CPU time, in microseconds a second.
   *
   * @param seconds for how long it was looked at
   */
  private record Used(double seconds, double client, double server) {
    static Used in(Venue venue, int forSeconds) throws InterruptedException {
      long client = Crew.clientNanos();
      long server = venue.cpuNanos();
      long start = System.nanoTime();
      Thread.sleep(forSeconds * 1_000L);
      double seconds = (System.nanoTime() - start) / 1e9;
      return new Used(
          seconds,
          (Crew.clientNanos() - client) / 1e3 / seconds,
          (venue.cpuNanos() - server) / 1e3 / seconds);
    }
  }

  private static List<Hold> acquire(Fenceline client, int count) throws Exception {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      numbers.add(i);
    }
    List<Hold> holds = new ArrayList<>();
    for (Optional<Hold> hold : all(numbers, i -> client.lock("held-" + i).tryAcquireAsync())) {
      holds.add(hold.orElseThrow(() -> new IllegalStateException("a name was not free")));
    }
    return holds;
  }

  private static void release(List<Hold> holds) throws Exception {
    all(holds, Hold::releaseAsync);
  }

  /** Does something for all, not all at once. */
  private static <A, B> List<B> all(List<A> items, Function<A, CompletableFuture<B>> task)
      throws Exception {
    Semaphore room = new Semaphore(AT_ONCE);
    List<CompletableFuture<B>> results = new ArrayList<>();
    for (A item : items) {
      room.acquire();
      CompletableFuture<B> result = task.apply(item);
      result.whenComplete((done, failure) -> room.release());
      results.add(result);
    }
    List<B> values = new ArrayList<>();
    for (CompletableFuture<B> result : results) {
      values.add(result.get());
    }
    return values;
  }

  private static long usedMemory() {
    Runtime runtime = Runtime.getRuntime();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
