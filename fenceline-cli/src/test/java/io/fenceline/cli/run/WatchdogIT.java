package io.fenceline.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fenceline.cli.tool.Tool;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The watchdog by itself, as a user who can start no more processes. */
class WatchdogIT {
  private static final String[] ANOTHER_USER = {"setpriv", "--reuid=65534", "--clear-groups"};

  private Path folder;

  @BeforeEach
  void open() throws IOException {
    folder = Files.createTempDirectory("watchdog-");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    Files.writeString(folder.resolve("mark"), "abc123def456.\n");
  }

  @AfterEach
  void remove() throws IOException {
    try (var all = Files.walk(folder)) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  /** The user may not be able to read where the distribution is. */
  private Process start(List<String> before, String sh, String script, String... args)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(ANOTHER_USER));
    command.addAll(before);
    String text = Files.readString(Tool.DIST.resolve("lib").resolve(script));
    command.addAll(List.of("setsid", sh, "-c", text, script, folder.toString()));
    command.addAll(List.of(args));
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve(script + ".out").toFile())
        .start();
  }

  private String await(String file, String text) {
    return Eventually.until(
        Tool.PATIENCE,
        file + " to have " + text,
        () -> Files.exists(folder.resolve(file)) ? Files.readString(folder.resolve(file)) : "",
        found -> found.contains(text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash", "bash"})
  void whereNoProcessCanBeStarted_itEndsTheCommandAllTheSame(String sh) throws Exception {
    assumeTrue(
        Integer.valueOf(0).equals(Files.getAttribute(folder, "unix:uid")),
        "only root can become another user");
    Process watchdog = start(List.of("prlimit", "--nproc=1:1"), sh, "watchdog.sh");
    watchdog.getOutputStream().write("mark abc123def456.\n".getBytes());
    watchdog.getOutputStream().flush();
    await("armed", "armed");
    Process guard =
        start(
            List.of(),
            sh,
            "guard.sh",
            "-",
            "bash",
            "-c",
            "set -m; sleep 1000 & echo $$ $! >pids; wait");
    List<Long> pids = new ArrayList<>(List.of(guard.pid()));
    for (String pid : await("pids", "\n").strip().split(" ")) {
      pids.add(Long.valueOf(pid));
    }
    watchdog.getOutputStream().close();
    try {
      for (long pid : pids) {
        Eventually.until(Tool.PATIENCE, "process " + pid + " to end", () -> !Tool.lives(pid));
      }
    } finally {
      for (long pid : pids) {
        if (Tool.lives(pid)) {
          Tool.signal("KILL", pid);
        }
      }
      watchdog.destroyForcibly().waitFor();
    }
    assertThat(guard.waitFor()).isEqualTo(137);
  }
}
