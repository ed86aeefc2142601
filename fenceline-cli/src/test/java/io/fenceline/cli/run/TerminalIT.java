package io.fenceline.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.ScriptVariables;
import io.fenceline.cli.tool.Tool;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * In a real terminal, under a shell with job control; with each of the shells that {@code sh} may
 * be, since they hand over a terminal in different ways.
 */
class TerminalIT {
  private static final String WINDOW = "w";

  @TempDir Path folder;
  private Screen screen;

  private void open(String sh) throws Exception {
    screen = new Screen(folder, sh, "sqlite:" + folder.resolve("locks.db"));
    screen.open(WINDOW);
  }

  private void type(String text) throws Exception {
    screen.type(WINDOW, text);
  }

  private void key(String key) throws Exception {
    screen.key(WINDOW, key);
  }

  private String await(String text) {
    return screen.await(WINDOW, text);
  }

  @AfterEach
  void close() throws Exception {
    screen.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash", "bash"})
  void theCommandHasTheTerminal_theKeyboard_andCtrlC(String sh) throws Exception {
    open(sh);
    type(Tool.LAUNCHER + " run a -c 'echo ask; read x </dev/tty; read y; echo got $x $y'");
    await("\nask");
    type("one");
    type("two");
    await("got one two");

    type(
        Tool.LAUNCHER
            + " run a -c 'trap \"echo I=NT; exit 5\" INT; echo re\\ady; sleep 100'; echo code-$?");
    await("ready");
    key("C-c");
    await("I=NT\n");
    await("code-5");

    type(Tool.LAUNCHER + " run a -c 'echo go\\ing; exec sleep 100'; echo code+$?");
    await("going");
    key("C-c");
    await("code+130");
    type(Tool.LAUNCHER + " run -n a -- echo fr'ee'");
    await("\nfree");
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash", "bash"})
  void ctrlZStopsAll_andFgGoesOn(String sh) throws Exception {
    open(sh);
    type(Tool.LAUNCHER + " run a -c 'echo as\\k; read x; echo got $x'");
    await("\nask");
    key("C-z");
    await("Stopped");
    type("echo prom'pt'");
    await("\nprompt");
    type("fg");
    Eventually.until(
        Tool.PATIENCE,
        "the command to have the terminal again",
        () -> {
          if (screen.text(WINDOW).contains("got hello")) {
            return true;
          }
          type("hello");
          return false;
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash", "bash"})
  void aKilledTool_leavesTheUsersShellItsTerminal(String sh) throws Exception {
    open(sh);
    type(Tool.LAUNCHER + " run a --lease 5s -c 'echo child-$$; sleep 100'");
    String shown = await("\nchild-");
    long child = Long.parseLong(shown.substring(shown.indexOf("\nchild-") + 7).split("\\s")[0]);
    long tool =
        ProcessHandle.allProcesses()
            .filter(p -> p.info().commandLine().orElse("").contains("io.fenceline.cli.Main run a"))
            .filter(p -> Tool.lives(p.pid()))
            .filter(p -> Tool.environment(p.pid()).contains(folder.toString()))
            .findFirst()
            .orElseThrow()
            .pid();
    Tool.signal("KILL", tool);

    Eventually.until(Tool.PATIENCE, "the command to end", () -> !Tool.lives(child));
    await("Killed");
    type("echo al'ive'");
    await("\nalive");
    type("echo st'ill'");
    await("\nstill");
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash"})
  void inAPipeline_theTerminalStaysWithTheOthers(String sh) throws Exception {
    open(sh);
    type(Tool.LAUNCHER + " run a -c 'echo li\\ne' | { cat; read x </dev/tty; echo pager $x; }");
    await("\nline");
    type("key");
    await("pager key");
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash", "bash"})
  void theUsersOwnVariables_reachTheCommandUnchanged(String sh) throws Exception {
    Path lib = Tool.DIST.resolve("lib");
    Map<String, String> variables =
        ScriptVariables.of(Tool.LAUNCHER, lib.resolve("guard.sh"), lib.resolve("terminal.sh"));
    StringBuilder exports = new StringBuilder();
    variables.forEach((name, value) -> exports.append("export %s=\"%s\"\n".formatted(name, value)));
    Files.writeString(folder.resolve("exports"), exports);
    open(sh);
    type(". ./exports; " + Tool.LAUNCHER + " run a -c 'test -t 2 && env >seen'; echo code-$?");
    await("code-0");
    String seen = Files.readString(folder.resolve("seen"));

    assertThat(ScriptVariables.changed(variables, seen)).isEmpty();
    assertThat(ScriptVariables.leaked(seen)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash", "bash"})
  void ctrlC_reachesACommandThatMakesAGroupOfItsOwn(String sh) throws Exception {
    open(sh);
    type(Tool.LAUNCHER + " run a -- timeout 1000 sh -c 'echo re\\ady; sleep 1000'; echo code-$?");
    await("ready");
    key("C-c");
    await("code-1");
    type(Tool.LAUNCHER + " run -n a -- echo fr'ee'");
    await("\nfree");
  }
}
