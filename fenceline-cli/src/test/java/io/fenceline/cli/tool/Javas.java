package io.fenceline.cli.tool;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Versions of Java beside the one that runs the tests; found where {@code consumers/run} does. */
public final class Javas {
  private Javas() {}

  /** The folder of a Java 25, if there is one on this machine. */
  public static Optional<Path> java25() throws IOException {
    List<Path> places = new ArrayList<>();
    for (String variable : List.of("JAVA_25_HOME", "JAVA_HOME_25_X64")) {
      String home = System.getenv(variable);
      if (home != null) {
        places.add(Path.of(home));
      }
    }
    Path installed = Path.of("/usr/lib/jvm");
    if (Files.isDirectory(installed)) {
      try (DirectoryStream<Path> found = Files.newDirectoryStream(installed, "*25*")) {
        found.forEach(places::add);
      }
    }
    return places.stream().filter(home -> Files.isExecutable(home.resolve("bin/java"))).findFirst();
  }

  /** The Java that runs this, which also made the distribution's archives. */
  public static Path own() {
    return Path.of(System.getProperty("java.home"));
  }

  /** {@link #own}, and Java 25 where there is one. */
  public static List<Path> all() throws IOException {
    List<Path> all = new ArrayList<>(List.of(own()));
    java25().filter(home -> Runtime.version().feature() != 25).ifPresent(all::add);
    return all;
  }
}
