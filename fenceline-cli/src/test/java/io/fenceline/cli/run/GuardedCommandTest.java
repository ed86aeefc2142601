package io.fenceline.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A guard that can't be understood. */
class GuardedCommandTest {
  @TempDir Path home;

  /**
   * Whoever gets an exception from the start gives the lock back: there is none once something
   * runs.
   */
  @Test
  void afterTheGuardWasStarted_aFailureIsTheWatchersToHear() throws Exception {
    Path library = Files.createDirectories(home.resolve("lib"));
    Files.copy(Path.of("src/main/sh/watchdog.sh"), library.resolve("watchdog.sh"));
    Files.writeString(library.resolve("guard.sh"), "echo nonsense >\"$1/guard\"; exec sleep 5\n");
    try (GuardedCommand command = GuardedCommand.prepare(home)) {

      command.start(List.of("true"), Map.of());

      assertThat(command.isAlive()).isTrue();
      assertThatThrownBy(command::alive).isInstanceOf(RuntimeException.class);
    }
  }
}
