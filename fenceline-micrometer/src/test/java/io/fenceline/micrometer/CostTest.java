package io.fenceline.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;

/** What counting costs: bytes, which are the same on a busy machine, unlike times. */
class CostTest {
  private static final int CYCLES = 50_000;

  /** By reflection: this module does not read the one that counts. */
  private static long allocated() throws ReflectiveOperationException {
    Object threads =
        Class.forName("java.lang.management.ManagementFactory")
            .getMethod("getThreadMXBean")
            .invoke(null);
    Method bytes =
        Class.forName("com.sun.management.ThreadMXBean")
            .getMethod("getCurrentThreadAllocatedBytes");
    return (Long) bytes.invoke(threads);
  }

  private static double bytesOfACycle(Fenceline fenceline) throws ReflectiveOperationException {
    FencedLock lock = fenceline.lock("orders:17");
    cycles(lock); // The first ones load classes and make meters.
    long before = allocated();
    cycles(lock);
    return (allocated() - before) / (double) CYCLES;
  }

  private static void cycles(FencedLock lock) {
    for (int i = 0; i < CYCLES; i++) {
      lock.tryAcquire().orElseThrow().release();
    }
  }

  @Test
  void bound_aCycleTakesAtMost200BytesMore() throws ReflectiveOperationException {
    try (Fenceline plain = Fenceline.connect("memory:cost");
        Fenceline bound = Fenceline.connect("memory:cost")) {
      FencelineMetrics.bind(bound, new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));

      double more = bytesOfACycle(bound) - bytesOfACycle(plain);
      assertThat(more).as("bytes a cycle").isBetween(0.0, 200.0);
    }
  }
}
