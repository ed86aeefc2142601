package io.fenceline.cli;

import io.fenceline.testkit.server.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * In a real terminal, under a shell with job control; with each of the shells that {@code sh} may
 * be, since they hand over a terminal in different ways.
 */
class TerminalIT {
  @TempDir Path folder;
  private String socket = "";

  private void open(String sh) throws Exception {
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Path real = Path.of("/usr/bin", sh).toRealPath();
    Files.createSymbolicLink(bin.resolve("sh"), real);
    socket = "fenceline-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
    tmux(
        "-f",
        "/dev/null",
        "new-session",
        "-d",
        "-x",
        "120",
        "-y",
        "50",
        "-c",
        folder.toString(),
        "env",
        "PATH=" + bin + ":" + System.getenv("PATH"),
        "HOME=" + folder,
        "FENCELINE_STORE=sqlite:" + folder.resolve("locks.db"),
        "PS1=% ",
        "bash",
        "--norc",
        "-i");
    await("%");
  }

  private String tmux(String... args) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("tmux", "-L", socket));
    command.addAll(List.of(args));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes());
    process.waitFor();
    return out;
  }

  private void type(String text) throws Exception {
    tmux("send-keys", "-l", text);
    tmux("send-keys", "Enter");
  }

  private void key(String key) throws Exception {
    tmux("send-keys", key);
  }

  private String screen() throws Exception {
    return tmux("capture-pane", "-p", "-S", "-500");
  }

  private String await(String text) {
    return Eventually.until(
        Tool.PATIENCE, "the screen to show " + text, this::screen, screen -> screen.contains(text));
  }

  @AfterEach
  void close() throws Exception {
    tmux("kill-server");
    // The folder can only be removed when nobody writes to it any more.
    Eventually.until(
        Tool.PATIENCE,
        "everything in the terminal to end",
        () ->
            ProcessHandle.allProcesses()
                .noneMatch(p -> environment(p.pid()).contains(folder.toString())));
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
          if (screen().contains("got hello")) {
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
    String screen = await("\nchild-");
    long child = Long.parseLong(screen.substring(screen.indexOf("\nchild-") + 7).split("\\s")[0]);
    long tool =
        ProcessHandle.allProcesses()
            .filter(p -> p.info().commandLine().orElse("").contains("io.fenceline.cli.Main run a"))
            .filter(p -> Tool.lives(p.pid()))
            .filter(p -> environment(p.pid()).contains(folder.toString()))
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

  private static String environment(long pid) {
    try {
      return new String(Files.readAllBytes(Path.of("/proc/" + pid + "/environ")));
    } catch (IOException e) {
      return "";
    }
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
}
