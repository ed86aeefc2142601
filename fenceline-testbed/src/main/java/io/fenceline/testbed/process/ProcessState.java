package io.fenceline.testbed.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel says that a process is doing: the proof that a signal had its effect. */
public enum ProcessState {
  RUNNING,
  SLEEPING,
  WAITING_FOR_DISK,
  STOPPED,
  ZOMBIE,
  GONE;

  /** Whether the process has ended: it runs no more, though its parent may not have noticed yet. */
  public boolean isEnded() {
    return this == ZOMBIE || this == GONE;
  }

  /** Reads {@code /proc/PID/stat}. */
  public static ProcessState of(long pid) {
    String stat;
    try {
      stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
    } catch (IOException e) {
      return GONE; // the file is missing, or vanished between open and read
    }
    // The state follows the command's name in parentheses, which may hold parentheses itself.
    return switch (stat.charAt(stat.lastIndexOf(')') + 2)) {
      case 'R' -> RUNNING;
      case 'S', 'I' -> SLEEPING;
      case 'D' -> WAITING_FOR_DISK;
      case 'T', 't' -> STOPPED;
      case 'Z' -> ZOMBIE;
      default -> GONE;
    };
  }
}
