package io.fenceline.cli.run;

import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Finds programs as a shell does, before a lock is taken for one that can't run. */
public final class Programs {
  private static final String DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

  private Programs() {}

  /**
   * Returns if the program can be executed.
   *
   * @throws Failure with 127 if it is not there, with 126 if it can't be executed
   */
  public static void check(String program, Map<String, String> environment) {
    if (program.isEmpty()) {
      throw new Failure(ExitCode.NOT_FOUND, "the command after -- is empty");
    }
    if (program.contains("/")) {
      Path path = Path.of(program);
      if (!Files.exists(path)) {
        throw new Failure(ExitCode.NOT_FOUND, "command '" + program + "': no such file");
      }
      if (!isProgram(path)) {
        throw notExecutable(program, path);
      }
      return;
    }
    Path refused = null;
    for (String folder : environment.getOrDefault("PATH", DEFAULT_PATH).split(":", -1)) {
      Path path = Path.of(folder.isEmpty() ? "." : folder, program);
      if (isProgram(path)) {
        return;
      }
      if (refused == null && Files.isRegularFile(path)) {
        refused = path;
      }
    }
    if (refused != null) {
      throw notExecutable(program, refused);
    }
    throw new Failure(
        ExitCode.NOT_FOUND,
        "command '" + program + "' was not found on the PATH; check its name, or give its path");
  }

  private static boolean isProgram(Path path) {
    return Files.isRegularFile(path) && Files.isExecutable(path);
  }

  private static Failure notExecutable(String program, Path path) {
    String why =
        Files.isDirectory(path) ? "it is a folder" : "it is not executable; try chmod +x " + path;
    return new Failure(ExitCode.NOT_EXECUTABLE, "command '" + program + "': " + why);
  }
}
