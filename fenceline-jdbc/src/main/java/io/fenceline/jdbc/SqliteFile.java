package io.fenceline.jdbc;

import io.fenceline.InvalidSettingException;
import io.fenceline.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Where the SQLite file is: as given, or in the user's state folder. */
final class SqliteFile {
  private SqliteFile() {}

  static Path at(String path) {
    if (path.isEmpty()) {
      return stateFolder(System::getenv, System.getProperty("user.home"));
    }
    if (path.startsWith(":")) {
      throw new InvalidSettingException(
          "sqlite path", path, "it must be a file; for locks in memory use memory:");
    }
    try {
      return Path.of(path).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw new InvalidSettingException("sqlite path", path, "it must be the path of a file");
    }
  }

  /** As the XDG base directory specification has it. */
  static Path stateFolder(UnaryOperator<@Nullable String> environment, String home) {
    String state = environment.apply("XDG_STATE_HOME");
    // A relative path is to be ignored, says the specification.
    Path base =
        state != null && Path.of(state).isAbsolute()
            ? Path.of(state)
            : Path.of(home, ".local", "state");
    return base.resolve("fenceline").resolve("locks.db");
  }

  static void createFolder(Path file, String description) {
    Path folder = file.getParent();
    if (folder == null || Files.isDirectory(folder)) {
      if (Files.isDirectory(file)) {
        throw unavailable(description, "it is a folder; name a file in it", null);
      }
      return;
    }
    try {
      Files.createDirectories(folder);
    } catch (AccessDeniedException e) {
      throw unavailable(description, "the folder " + e.getFile() + " can't be written", e);
    } catch (FileAlreadyExistsException e) {
      throw unavailable(description, e.getFile() + " is not a folder", e);
    } catch (IOException e) {
      throw unavailable(description, "its folder can't be created: " + e.getMessage(), e);
    }
  }

  private static StoreUnavailableException unavailable(
      String description, String why, @Nullable Exception cause) {
    return new StoreUnavailableException(
        description, "The file can't be used for locks: " + why, cause);
  }
}
