package io.fenceline.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the tool's own three streams are, as Linux tells it. */
public final class Terminal {
  private static final int STDIN = 0;
  private static final int STDOUT = 1;
  private static final int STDERR = 2;

  // Fields of /proc/self/stat after the name: state ppid pgrp session tty_nr tpgid.
  private static final int GROUP = 2;
  private static final int TTY = 4;
  private static final int FOREGROUND = 5;

  private Terminal() {}

  /** Whether stdin is a terminal. */
  public static boolean onStdin() {
    return isTerminal(STDIN);
  }

  /** Whether stdout is a terminal. */
  public static boolean onStdout() {
    return isTerminal(STDOUT);
  }

  /** Whether stderr is a terminal. */
  public static boolean onStderr() {
    return isTerminal(STDERR);
  }

  /**
   * Whether a command should get the terminal: we have it, and nobody else in our pipeline may need
   * it. In {@code fenceline run x -- ls | less}, it is less that reads the keyboard.
   */
  static boolean canBeGivenAway() {
    return onStdin() && !target(STDOUT).startsWith("pipe:") && isForeground();
  }

  private static boolean isForeground() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return !fields[TTY].equals("0") && fields[GROUP].equals(fields[FOREGROUND]);
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean isTerminal(int fd) {
    String target = target(fd);
    return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || isConsole(target);
  }

  private static boolean isConsole(String target) {
    return target.equals("/dev/console");
  }

  private static String target(int fd) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
    } catch (IOException e) {
      return "";
    }
  }
}
