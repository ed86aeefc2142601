package io.fenceline.bench.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What the kernel says of a process. */
final class ProcessFigures {
  /** The kernel counts in hundredths of a second, for programs. */
  private static final long TICK_NANOS = 10_000_000;

  private ProcessFigures() {}

  /** Its resident memory; 0 if it is not known. */
  static long memoryBytes(long pid) {
    try {
      return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1_024)
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }

  /** The CPU time that it and its children have used. */
  static long cpuNanos(long pid) {
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      List<String> known =
          processes
              .map(path -> path.getFileName().toString())
              .filter(name -> name.chars().allMatch(Character::isDigit))
              .toList();
      return known.stream().mapToLong(process -> ticks(process, pid)).sum() * TICK_NANOS;
    } catch (IOException e) {
      return 0;
    }
  }

  /** Of a process that is this one or its child: 123 (name with spaces) S 1 … */
  private static long ticks(String process, long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      boolean ours = Long.parseLong(process) == pid || Long.parseLong(fields[1]) == pid;
      // utime and stime, and those of children that have ended.
      return ours ? Stream.of(11, 12, 13, 14).mapToLong(i -> Long.parseLong(fields[i])).sum() : 0;
    } catch (IOException e) {
      return 0; // It has ended.
    }
  }
}
