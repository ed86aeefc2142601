package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Commands on the pages work, with an empty home folder, and print what the page says.
 *
 * <p>A block {@code sh} is typed line by line, and each line must succeed. A block {@code console}
 * has its commands after {@code $} and what they print below, as {@link Expectation} compares it.
 * What can't be run inside the build is looked at by {@link NotRun}.
 */
class CommandBlocksIT {
  private static final Servers SERVERS = new Servers();

  @TempDir static Path folder;

  @AfterAll
  static void stop() throws Exception {
    SERVERS.close();
  }

  /** The same text on two pages is run once. */
  private record Task(String name, String server, List<Commands.Command> commands) {}

  private static List<Task> tasks() {
    List<Task> tasks = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (Document page : Repository.documents()) {
      for (Block block : page.blocks) {
        if (Set.of("sh", "console").contains(block.language())
            && seen.add(block.language() + block.marker() + block.text())) {
          tasks.add(new Task(block.toString(), block.marked("with"), Commands.of(block)));
        }
      }
    }
    return tasks;
  }

  private static void check(Task task) throws Exception {
    List<Commands.Command> runnable = new ArrayList<>();
    for (Commands.Command command : task.commands) {
      NotRun.Kind kind = NotRun.kindOf(command.line());
      if (kind == null) {
        runnable.add(command);
      } else {
        assertThat(kind.problem().apply(command)).as(command.line()).isNull();
      }
    }
    List<String> lines = new ArrayList<>();
    for (Commands.Command command : runnable) {
      lines.add(
          task.server != null && command.line().contains(Servers.example(task.server))
              ? SERVERS.in(command.line(), task.server)
              : command.line());
    }
    if (lines.isEmpty()) {
      return;
    }
    List<Shell.Result> results = new Shell(Files.createTempDirectory(folder, "x")).run(lines);
    for (int i = 0; i < results.size(); i++) {
      Shell.Result result = results.get(i);
      String expected = runnable.get(i).output();
      assertThat(result.code()).as("exit code of %s%n%s", result, result.output()).isZero();
      if (expected != null && !Expectation.matches(expected, result.output())) {
        assertThat(Expectation.plain(result.output()))
            .as("what '%s' prints:%n%s", result.command(), result.output())
            .isEqualTo(Expectation.plain(expected));
      }
    }
  }

  @TestFactory
  Stream<DynamicTest> commands_work_andPrintWhatThePageSays() {
    return tasks().stream().map(task -> DynamicTest.dynamicTest(task.name, () -> check(task)));
  }

  @Test
  void commandsAreFound() {
    assertThat(tasks()).extracting(Task::name).anyMatch(name -> name.startsWith("README.md"));
  }

  @Test
  void commandThatFails_orPrintsSomethingElse_isNoticed() {
    assertThatThrownBy(() -> check(task("$ ./fenceline run wrong -- echo right\nwrong\n")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("right");
    assertThatThrownBy(() -> check(task("$ ./fenceline rum wrong -- true\n…\n")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("exit code");
    assertThatThrownBy(() -> check(task("$ ./check --quick\n1 passed, 0 failed, 0 skipped\n")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("no option --quick");
  }

  private static Task task(String console) {
    return new Task("planted", null, Commands.console(console));
  }
}
