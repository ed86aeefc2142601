package io.fenceline.testbed.process;

import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A program that does one thing and ends: initdb, openssl, redis-cli. */
public final class Tool {

  private static final Duration BOUND = Duration.ofSeconds(60);

  private Tool() {}

  public static String run(String... command) {
    return run(RunAs.self(), Map.of(), List.of(command));
  }

  /** Runs the command and returns its output; an error with the output if it fails. */
  public static String run(RunAs user, Map<String, String> environment, List<String> command) {
    try (TempFolder folder = TempFolder.create("tool")) {
      Path output = folder.path().resolve("output");
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(Path.of("/").toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      OwnedProcess process = OwnedProcess.start(builder, user);
      try {
        Eventually.until(BOUND, command.get(0) + " to end", () -> !process.isAlive());
      } finally {
        process.kill();
      }
      String text = Files.readString(output);
      int status = process.process().exitValue();
      if (status != 0) {
        throw new HarnessException("%s failed (status=%d):%n%s".formatted(command, status, text));
      }
      return text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
