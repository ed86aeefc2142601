package io.fenceline.bench.micro;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.micrometer.FencelineMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** An acquire and release in memory, by one thread, of a client with and without meters. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@SuppressWarnings("MustBeClosedChecker") // What is opened is closed in another method, or released.
public class MeterCost {
  private static final Duration AMPLE = Duration.ofMinutes(1);

  /** What the client is bound to. */
  public enum Meters {
    /** Nobody watches it. */
    NONE,
    /** A registry for Prometheus. */
    PROMETHEUS
  }

  /** Each has JVMs of its own. */
  @Param public Meters meters = Meters.NONE;

  private @Nullable Fenceline fenceline;
  private @Nullable FencedLock lock;

  /** For JMH. */
  public MeterCost() {}

  /** Connects. */
  @Setup
  public void connect() {
    Fenceline connected = Fenceline.connect("memory:");
    if (meters == Meters.PROMETHEUS) {
      PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      FencelineMetrics.bind(connected, registry);
    }
    fenceline = connected;
    lock = connected.lock("orders:17");
  }

  /** One cycle. */
  @Benchmark
  public ReleaseOutcome acquireAndRelease() throws InterruptedException {
    FencedLock asked = lock;
    if (asked == null) {
      throw new IllegalStateException("not connected");
    }
    Hold hold = asked.acquire(AMPLE);
    return hold.release();
  }

  /** Closes the client. */
  @TearDown
  public void close() {
    if (fenceline != null) {
      fenceline.close();
    }
  }
}
