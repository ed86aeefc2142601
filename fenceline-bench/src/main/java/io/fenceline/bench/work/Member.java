package io.fenceline.bench.work;

import io.fenceline.testbed.process.JavaProcess;
import java.util.List;

/** Processes that take part: compiled as an application is, and told where the store is. */
final class Member {
  private Member() {}

  /**
   * Starts one; it prints {@code ready} when it is.
   *
   * @param lines what it is told first, by its standard input: an address may have a password,
   *     which a list of processes would show
   */
  static JavaProcess start(
      Class<?> main, int heapMegabytes, List<String> lines, String... jvmOptions) {
    JavaProcess.Builder builder =
        JavaProcess.of(main)
            .heap(heapMegabytes)
            .jvmOption("-XX:TieredStopAtLevel=4"); // Those of tests are compiled in a hurry.
    for (String option : jvmOptions) {
      builder.jvmOption(option);
    }
    JavaProcess process = builder.start();
    lines.forEach(process::send);
    return process;
  }
}
