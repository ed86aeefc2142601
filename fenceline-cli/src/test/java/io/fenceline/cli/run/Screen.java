package io.fenceline.cli.run;

import io.fenceline.cli.tool.Tool;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A real terminal (tmux), with a shell with job control in each of its windows. */
final class Screen implements AutoCloseable {
  private final Path folder;
  private final String socket;
  private final List<String> shell;
  private boolean opened;

  /**
   * Nothing is open yet.
   *
   * @param sh the shell that {@code sh} is for all that runs in it
   * @param store the address of the store for all that runs in it
   */
  Screen(Path folder, String sh, String store) throws IOException {
    this.folder = folder;
    this.socket = "fenceline-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Files.createSymbolicLink(bin.resolve("sh"), Path.of("/usr/bin", sh).toRealPath());
    this.shell =
        List.of(
            "-c",
            folder.toString(),
            "env",
            "PATH=" + bin + ":" + System.getenv("PATH"),
            "HOME=" + folder,
            "FENCELINE_STORE=" + store,
            "PS1=% ",
            "bash",
            "--norc",
            "-i");
  }

  /** Opens a window, and waits for its prompt. */
  void open(String window) throws Exception {
    List<String> command = new ArrayList<>();
    if (opened) {
      command.addAll(List.of("new-window", "-n", window));
    } else {
      command.addAll(List.of("-f", "/dev/null", "new-session", "-d"));
      command.addAll(List.of("-x", "120", "-y", "50", "-n", window));
    }
    command.addAll(shell);
    tmux(command);
    opened = true;
    await(window, "%");
  }

  private String tmux(List<String> args) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("tmux", "-L", socket));
    command.addAll(args);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes());
    process.waitFor();
    return out;
  }

  /** Types a line. */
  void type(String window, String text) throws Exception {
    tmux(List.of("send-keys", "-t", window, "-l", text));
    tmux(List.of("send-keys", "-t", window, "Enter"));
  }

  /** Presses a key, such as {@code C-c}. */
  void key(String window, String key) throws Exception {
    tmux(List.of("send-keys", "-t", window, key));
  }

  /** All that is and was to be seen. */
  String text(String window) throws Exception {
    return tmux(List.of("capture-pane", "-t", window, "-p", "-S", "-500"));
  }

  /** Waits until something is to be seen, and returns all that is. */
  String await(String window, String text) {
    return Eventually.until(
        Tool.PATIENCE,
        "the screen to show " + text,
        () -> text(window),
        screen -> screen.contains(text));
  }

  @Override
  public void close() throws Exception {
    if (opened) {
      tmux(List.of("kill-server"));
    }
    // The folder can only be removed when nobody writes to it any more.
    Eventually.until(
        Tool.PATIENCE,
        "everything in the terminal to end",
        () ->
            ProcessHandle.allProcesses()
                .noneMatch(p -> Tool.environment(p.pid()).contains(folder.toString())));
  }
}
