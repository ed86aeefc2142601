package io.fenceline.cli.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** The processes of this machine, as /proc shows them. */
final class ProcessTable {
  /** Of those that are hidden from some users, it is there for sure. */
  private static final long INIT = 1;

  // Fields of /proc/PID/stat after the name.
  private static final int STATE = 0;
  private static final int PARENT = 1;
  private static final int GROUP = 2;
  private static final int SESSION = 3;
  private static final int THREADS = 17;
  private static final int STARTED = 19;

  private final Path root;

  /**
   * Nothing is read yet.
   *
   * @param root /proc
   */
  ProcessTable(Path root) {
    this.root = root;
  }

  /**
   * A process, or what is left of one.
   *
   * @param started in ticks since the machine was; with the id, it is unique
   */
  record Entry(
      long pid, char state, long parent, long group, long session, int threads, long started) {
    static Entry parse(String stat) {
      // The name may have blanks and brackets.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).strip().split(" ", -1);
      return new Entry(
          Long.parseLong(stat.substring(0, stat.indexOf(' '))),
          fields[STATE].charAt(0),
          Long.parseLong(fields[PARENT]),
          Long.parseLong(fields[GROUP]),
          Long.parseLong(fields[SESSION]),
          Integer.parseInt(fields[THREADS]),
          Long.parseLong(fields[STARTED]));
    }

    /** A zombie with threads is a process whose first thread has ended. */
    boolean isAlive() {
      return state != 'X' && (state != 'Z' || threads > 1);
    }

    boolean isSameAs(Entry other) {
      return pid == other.pid && started == other.started;
    }
  }

  /**
   * All that can be seen.
   *
   * @param isWhole whether other users' processes are shown, too (hidepid)
   */
  record Snapshot(Map<Long, Entry> processes, boolean isWhole) {}

  /**
   * Reads it all.
   *
   * @throws IOException if nothing can be said of what runs on this machine
   */
  Snapshot read() throws IOException {
    Map<Long, Entry> processes = new LinkedHashMap<>();
    boolean isWhole = true;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(root, "[0-9]*")) {
      for (Path folder : all) {
        try {
          Entry entry = Entry.parse(text(folder.resolve("stat")));
          processes.put(entry.pid(), entry);
        } catch (IOException e) {
          isWhole &= !Files.exists(folder); // It has just ended, or it is hidden.
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    if (!processes.containsKey(ProcessHandle.current().pid())) {
      throw new IOException("this process itself is not visible in " + root);
    }
    return new Snapshot(processes, isWhole && processes.containsKey(INIT));
  }

  private static String text(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
  }

  private Path file(long pid, String name) {
    return root.resolve(Long.toString(pid)).resolve(name);
  }

  /**
   * The variables that a process was started with; none while it is becoming another program.
   *
   * @throws IOException if it has ended, or may not be asked
   */
  List<String> environment(long pid) throws IOException {
    return words(text(file(pid, "environ")));
  }

  /** The words that a process was started with; none if it has ended. */
  List<String> commandLine(long pid) {
    try {
      return words(text(file(pid, "cmdline")));
    } catch (IOException e) {
      return List.of();
    }
  }

  private static List<String> words(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split("\0", -1));
  }

  /** The children of a process, also those that are hidden, as far as the kernel tells. */
  List<Long> children(long pid) {
    List<Long> children = new ArrayList<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(file(pid, "task"))) {
      for (Path thread : threads) {
        for (String child : text(thread.resolve("children")).strip().split(" ", -1)) {
          if (!child.isEmpty()) {
            children.add(Long.valueOf(child));
          }
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      // It has ended; what was read counts.
    }
    return children;
  }

  /** The user of a process. */
  OptionalInt user(long pid) {
    try {
      return OptionalInt.of(
          (Integer) Files.getAttribute(root.resolve(Long.toString(pid)), "unix:uid"));
    } catch (IOException e) {
      return OptionalInt.empty();
    }
  }
}
