package io.fenceline.testbed.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** What the kernel says about who has locked which files, in {@code /proc/locks}. */
final class FileLocks {
  private FileLocks() {}

  /**
   * Whether a process has a part of any file locked against all others, as SQLite does while it
   * writes. Not counted are locks of {@code flock}, of which each JVM has one for its own figures.
   */
  static boolean isWriterAnywhere(long pid) {
    // 27: POSIX  ADVISORY  WRITE 2491 fe:00:2360589 120 120; "->" stands before those who wait.
    Pattern writer = Pattern.compile("\\d+: POSIX +\\S+ +WRITE +" + pid + " .*");
    try {
      return Files.readAllLines(Path.of("/proc/locks")).stream()
          .anyMatch(line -> writer.matcher(line).matches());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
