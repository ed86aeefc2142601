package io.fenceline.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StaleTokenException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A rate limit where no script can decide, in ZooKeeper and etcd: check and increment under the
 * lock, in a register that refuses the write of a holder who was overtaken.
 *
 * <p>These stores tell no time, so the clocks of the holders count, and must agree. A permit costs
 * a lock, a read, a fenced write and a release; whoever can, uses {@code RateLimit}.
 */
@Execution(ExecutionMode.CONCURRENT)
class CheckAndIncrementTest {
  private static final Duration AMPLE = Duration.ofSeconds(90);
  private static final int LIMIT = 5;
  private static final long PERIOD_MILLIS = 1_000;

  /** The times of the permits that count, oldest first. */
  private static List<Long> parse(String register) {
    return Arrays.stream(register.split(","))
        .filter(text -> text.matches("\\d+"))
        .map(Long::parseLong)
        .collect(Collectors.toCollection(ArrayList::new));
  }

  /** Takes a permit if there is one; its time, or -1. */
  private static long tryTake(Fenceline fenceline, Resource register, String name)
      throws Exception {
    try (Hold hold = fenceline.lock(name).acquire(AMPLE)) {
      List<Long> times = parse(register.read(name));
      long last = times.isEmpty() ? 0 : times.get(times.size() - 1);
      long now = Math.max(last, System.currentTimeMillis()); // A clock that is behind waits.
      times.removeIf(time -> time + PERIOD_MILLIS <= now);
      if (times.size() >= LIMIT) {
        return -1;
      }
      times.add(now);
      register.writeFenced(
          name,
          times.stream().map(String::valueOf).collect(Collectors.joining(",")),
          hold.fencingToken());
      return now;
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ZOOKEEPER", "ETCD"})
  void underTheLock_noWindowHasMore(Store store) throws Exception {
    Store.Running running = store.running();
    String name = "counted";
    List<FutureTask<List<Long>>> takers = new ArrayList<>();
    try (Resource prepared = Resource.open(running.resource())) {
      prepared.prepare(List.of(name));
      prepared.writeOpen(name, "none");
    }
    long from = System.nanoTime();
    for (int i = 0; i < 2; i++) {
      takers.add(
          new FutureTask<>(
              () -> {
                List<Long> taken = new ArrayList<>();
                try (Fenceline fenceline = running.connect();
                    Resource register = Resource.open(running.resource())) {
                  while (taken.size() < LIMIT) {
                    long time = tryTake(fenceline, register, name);
                    if (time >= 0) {
                      taken.add(time);
                    }
                  }
                }
                return taken;
              }));
    }
    takers.forEach(taker -> new Thread(taker).start());
    List<Long> all = new ArrayList<>();
    for (FutureTask<List<Long>> taker : takers) {
      all.addAll(taker.get(180, TimeUnit.SECONDS));
    }
    all.sort(null);
    for (int i = LIMIT; i < all.size(); i++) {
      assertThat(all.get(i) - all.get(i - LIMIT)).isGreaterThanOrEqualTo(PERIOD_MILLIS);
    }
    System.out.printf(
        "%s: %d permits, %d ms in all, of which the limit takes %d%n",
        store, all.size(), (System.nanoTime() - from) / 1_000_000, PERIOD_MILLIS);
  }

  /** The holder that was overtaken between its check and its increment. */
  @ParameterizedTest
  @EnumSource(names = {"ZOOKEEPER", "ETCD"})
  void overtakenBetweenCheckAndIncrement_isRefused(Store store) throws Exception {
    Store.Running running = store.running();
    String name = "overtaken";
    try (Resource register = Resource.open(running.resource());
        Fenceline first = running.connect();
        Fenceline second = running.connect()) {
      register.prepare(List.of(name));
      register.writeOpen(name, "none");
      Hold paused = first.lock(name).acquire(AMPLE);
      List<Long> seen = parse(register.read(name)); // The check.
      paused.release(); // As a lease that has run out.
      assertThat(tryTake(second, register, name)).isPositive();
      String after = register.read(name);
      assertThat(seen).isEmpty();
      assertThatThrownBy(
              () -> register.writeFenced(name, "1", paused.fencingToken())) // The increment.
          .isInstanceOf(StaleTokenException.class);
      assertThat(register.read(name)).as("the permit of the second counts").isEqualTo(after);
    }
  }
}
