package io.fenceline.testbed.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The main sources of the modules beside this one. */
final class Sources {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

  private Sources() {}

  /** The main sources of the modules that are built so far. */
  static List<Path> ofEveryModule() {
    try (Stream<Path> modules = Files.list(ROOT)) {
      return modules
          .filter(module -> module.getFileName().toString().startsWith("fenceline-"))
          .filter(module -> Files.isDirectory(module.resolve("src/main/java")))
          .sorted()
          .flatMap(module -> of(module.getFileName().toString()).stream())
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The main sources of one module. */
  static List<Path> of(String module) {
    try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The class path of this test run; surefire hides it behind a jar of its own. */
  static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }
}
