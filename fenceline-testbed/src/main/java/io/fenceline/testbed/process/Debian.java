package io.fenceline.testbed.process;

import io.fenceline.testbed.server.NeedsValkey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Where Debian puts what its packages bring. */
public final class Debian {

  private static final List<String> FOLDERS =
      List.of("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/bin", "/sbin");

  private Debian() {}

  /** The program of that name, or one line that says which package has it. */
  public static String program(String name, String aptPackage) {
    return FOLDERS.stream()
        .map(folder -> Path.of(folder, name))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() -> missing(name, aptPackage))
        .toString();
  }

  /** Whether there is no Valkey: for {@link NeedsValkey}, and tests of several stores. */
  public static boolean lacksValkey() {
    return FOLDERS.stream()
        .noneMatch(folder -> Files.isExecutable(Path.of(folder, "valkey-server")));
  }

  /** The highest version of a program of PostgreSQL. */
  public static String postgresProgram(String name) {
    return newest(Path.of("/usr/lib/postgresql"), "*", "bin/" + name, "postgresql");
  }

  /** The library of faketime, whose folder carries the machine's architecture. */
  static String faketimeLibrary() {
    return newest(Path.of("/usr/lib"), "*-linux-gnu*", "faketime/libfaketime.so.1", "faketime");
  }

  private static String newest(Path folder, String glob, String file, String aptPackage) {
    Path found = null;
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> versions = Files.newDirectoryStream(folder, glob)) {
        for (Path version : versions) {
          Path candidate = version.resolve(file);
          if (Files.exists(candidate) && (found == null || candidate.compareTo(found) > 0)) {
            found = candidate;
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    if (found == null) {
      throw missing(file, aptPackage);
    }
    return found.toString();
  }

  private static HarnessException missing(String file, String aptPackage) {
    return new HarnessException(
        "'%s' is not installed; it comes with: apt-get install %s".formatted(file, aptPackage));
  }
}
