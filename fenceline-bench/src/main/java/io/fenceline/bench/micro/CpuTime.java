package io.fenceline.bench.micro;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * The CPU time of the whole process for each call, collector and compiler included: unlike the time
 * by the clock, it is the same on a machine that is busy with something else.
 */
public final class CpuTime implements InternalProfiler {
  private final OperatingSystemMXBean system =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private long before;

  /** For JMH, which makes one in each of its JVMs. */
  public CpuTime() {}

  @Override
  public String getDescription() {
    return "CPU time of the process";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    before = system.getProcessCpuTime();
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    double nanos = system.getProcessCpuTime() - before;
    long calls = result.getMetadata().getAllOps();
    return List.of(
        new ScalarResult("cpu.time.norm", nanos / calls, "ns/op", AggregationPolicy.AVG));
  }
}
