package io.fenceline.cli.run;

import io.fenceline.cli.ExitCode;
import io.fenceline.cli.Failure;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A command in a process group of its own, under a guard process that kills the group when this
 * tool dies.
 *
 * <p>The guard is told by a pipe which signals to send; the end of the pipe tells it that the tool
 * is gone, however it ended. {@link #prepare} makes the pipe, which takes a process of its own, so
 * that this can be done while the lock is being asked for.
 */
public final class GuardedCommand implements AutoCloseable {

  /*
   * Why a named pipe: a Java process can give its child no more than three streams, and the command
   * has to have all of them. This side opens it for reading too, since opening it for writing alone
   * would wait for the guard; the guard keeps only its reading end. The JVM closes all other
   * descriptors in its children, so nobody else can keep the pipe open when this process dies.
   */

  private static final int KILLED = ExitCode.SIGNAL_BASE + 9;

  private final Path home;
  private final Path folder;
  private final Path pipe;
  private final Process mkfifo;
  private @Nullable RandomAccessFile control;
  private @Nullable Process guard;

  private GuardedCommand(Path home, Path folder, Process mkfifo) {
    this.home = home;
    this.folder = folder;
    this.pipe = folder.resolve("pipe");
    this.mkfifo = mkfifo;
  }

  /**
   * Starts to make the pipe.
   *
   * @param home where the distribution is
   */
  public static GuardedCommand prepare(Path home) {
    try {
      Path folder = Files.createTempDirectory("fenceline-");
      Process mkfifo =
          new ProcessBuilder("mkfifo", "-m", "600", folder.resolve("pipe").toString())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return new GuardedCommand(home, folder, mkfifo);
    } catch (IOException e) {
      throw new Failure(
          ExitCode.SYSTEM, "can't make a pipe in the folder for temporary files: " + e, e);
    }
  }

  /**
   * Starts the command, with this process' own streams, and its terminal where that makes sense.
   *
   * @param variables added to the environment
   */
  public void start(List<String> command, Map<String, String> variables)
      throws InterruptedException {
    if (mkfifo.waitFor() != 0) {
      throw new Failure(ExitCode.SYSTEM, "can't make the pipe " + pipe + "; is the disk full?");
    }
    boolean terminal = Terminal.canBeGivenAway();
    List<String> line = new ArrayList<>();
    String library = home.resolve("lib").toString();
    if (terminal) {
      line.addAll(List.of("sh", library + "/terminal.sh"));
      line.addAll(List.of(String.valueOf(ProcessHandle.current().pid()), library + "/guard.sh"));
    } else {
      line.addAll(List.of("setsid", "sh", library + "/guard.sh"));
    }
    line.add(pipe.toString());
    if (!terminal) {
      line.add("-");
    }
    line.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(line).inheritIO();
    restoreLocale(builder.environment());
    builder.environment().putAll(variables);
    try {
      control = new RandomAccessFile(pipe.toFile(), "rw");
      guard = builder.start();
    } catch (IOException e) {
      throw new Failure(ExitCode.SYSTEM, "can't start the guard process: " + e.getMessage(), e);
    }
  }

  /** The launcher may have set a locale for this JVM; the command gets the user's own. */
  private static void restoreLocale(Map<String, String> environment) {
    String kept = environment.remove("FENCELINE_LC_ALL");
    if (kept != null && kept.startsWith("=")) {
      environment.put("LC_ALL", kept.substring(1));
    } else if (kept != null) {
      environment.remove("LC_ALL");
    }
  }

  /** Calls back when the command has ended. */
  public void onExit(Runnable listener) {
    Process started = guard;
    if (started != null) {
      started.onExit().thenRun(listener);
    }
  }

  /** Whether it still runs. */
  public boolean isAlive() {
    Process started = guard;
    return started != null && started.isAlive();
  }

  /** How the command ended: its exit code, or 128 and the signal. */
  public int exitCode() {
    Process started = guard;
    if (started == null) {
      return KILLED;
    }
    int code = started.exitValue();
    if (code == KILLED) {
      // Either the command was killed, or its guard; in the latter case it must not live on.
      send("KILL");
    }
    try {
      return Integer.parseInt(Files.readString(folder.resolve("status")).strip());
    } catch (IOException | NumberFormatException e) {
      return code;
    }
  }

  /** Sends a signal to the command and to all that it started. */
  public void send(String signal) {
    RandomAccessFile open = control;
    if (open != null) {
      try {
        open.write((signal + "\n").getBytes(StandardCharsets.US_ASCII));
      } catch (IOException e) {
        throw new Failure(ExitCode.SYSTEM, "can't reach the guard process: " + e.getMessage(), e);
      }
    }
  }

  /** Closes the pipe; a command that still runs is killed by that. */
  @Override
  public void close() {
    try {
      RandomAccessFile open = control;
      if (open != null) {
        open.close();
      }
      mkfifo.waitFor();
      Files.deleteIfExists(pipe);
      Files.deleteIfExists(folder.resolve("jobs"));
      Files.deleteIfExists(folder.resolve("status"));
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      // What is left is an empty folder among other temporary files.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
