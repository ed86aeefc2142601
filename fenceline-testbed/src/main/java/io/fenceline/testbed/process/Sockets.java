package io.fenceline.testbed.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Which sockets a process has, as the kernel tells it. */
public final class Sockets {
  private static final int LOCAL_ADDRESS = 1;
  private static final int INODE = 9;

  private Sockets() {}

  /** Whether a process has a TCP connection from that port of its own. */
  public static boolean owns(long pid, int port) {
    try {
      Set<String> connections = inodes(pid, port);
      return !connections.isEmpty() && openFiles(pid).anyMatch(connections::contains);
    } catch (IOException e) {
      throw new UncheckedIOException("the sockets of process " + pid, e);
    }
  }

  /** The sockets that have this port at their own end, by the names that they have as files. */
  private static Set<String> inodes(long pid, int port) throws IOException {
    String end = ":%04X".formatted(port);
    return Stream.of("tcp", "tcp6")
        .flatMap(kind -> lines(Path.of("/proc", Long.toString(pid), "net", kind)).stream())
        .map(line -> line.strip().split("\\s+"))
        .filter(words -> words.length > INODE && words[LOCAL_ADDRESS].endsWith(end))
        .map(words -> "socket:[" + words[INODE] + "]")
        .collect(Collectors.toSet());
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of(); // The process is gone, or has no such sockets.
    }
  }

  private static Stream<String> openFiles(long pid) throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
      return files.map(Sockets::target).toList().stream();
    }
  }

  private static String target(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException e) {
      return ""; // Closed meanwhile.
    }
  }
}
