package io.fenceline.testbed.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The end of a log, for an error message. */
final class LogTail {

  private static final int BYTES = 4_000;

  private LogTail() {}

  static String of(Path log) {
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      long start = Math.max(0, file.length() - BYTES);
      file.seek(start);
      byte[] tail = new byte[(int) (file.length() - start)];
      file.readFully(tail);
      return new String(tail, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "(no log: " + e.getMessage() + ")";
    }
  }
}
