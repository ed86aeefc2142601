package io.fenceline.redis.support;

import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.concurrent.Executor;
import java.util.function.LongPredicate;

/** Manual time that can't set some timers, as where no memory or no stack is left. */
public final class FaultyTime implements Time {
  private final ManualTime time;
  private volatile LongPredicate fails = delayNanos -> false;

  public FaultyTime(ManualTime time) {
    this.time = time;
  }

  /** Not an error of the machine itself, by which JUnit would end. */
  public static final class Deep extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** Which timers can't be set from now on, by their delay. */
  public void fail(LongPredicate which) {
    fails = which;
  }

  @Override
  public long nanos() {
    return time.nanos();
  }

  @Override
  public long wallMillis() {
    return time.wallMillis();
  }

  @Override
  public Timer schedule(long delayNanos, Runnable task) {
    if (fails.test(delayNanos)) {
      throw new Deep();
    }
    return time.schedule(delayNanos, task);
  }

  @Override
  public Executor lane(Lane lane) {
    return time.lane(lane);
  }

  @Override
  public void park(Object blocker, long maxNanos) {
    time.park(blocker, maxNanos);
  }

  @Override
  public void close() {
    time.close();
  }
}
