package io.fenceline.bench.micro;

import java.util.Collection;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs the benchmarks of this package with the allocation and the CPU time of each call; see {@code
 * ./bench --help}.
 *
 * <p>Arguments are JMH's own, such as {@code -f 1 -wi 1 -i 1}.
 */
public final class Micro {
  private Micro() {}

  /** Runs them. */
  public static void main(String[] arguments) throws Exception {
    run(arguments);
  }

  static Collection<RunResult> run(String... arguments)
      throws CommandLineOptionException, RunnerException {
    CommandLineOptions given = new CommandLineOptions(arguments);
    ChainedOptionsBuilder options =
        new OptionsBuilder().parent(given).addProfiler("gc").addProfiler(CpuTime.class);
    if (given.getIncludes().isEmpty()) {
      options.include(MeterCost.class.getName());
    }
    return new Runner(options.build()).run();
  }
}
