package io.fenceline.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A temporary folder for the locks and the data of an example. */
record Scratch(Path folder) implements AutoCloseable {

  static Scratch create() throws IOException {
    return new Scratch(Files.createTempDirectory("fenceline-example"));
  }

  /** Where the locks are. */
  String locks() {
    return "sqlite:" + folder.resolve("locks.db");
  }

  /** Where the data is. */
  String data() {
    return "jdbc:sqlite:" + folder.resolve("data.db") + "?busy_timeout=60000";
  }

  @Override
  public void close() throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      all.sorted(Comparator.reverseOrder())
          .forEach(
              path -> {
                try {
                  Files.deleteIfExists(path);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    }
  }
}
