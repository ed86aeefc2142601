package io.fenceline.cli.run;

import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A command in a process group of its own, with a guard process as its leader and a watchdog that
 * ends all that the command has started.
 *
 * <p>{@link #prepare} starts the watchdog, so that this can be done while the lock is being asked
 * for.
 */
public final class GuardedCommand implements AutoCloseable {
  /** Marks the processes of a run, and of the runs around it. */
  static final String MARK = "FENCELINE_RUN";

  private static final int KILLED = ExitCode.SIGNAL_BASE + 9;
  private static final int MARK_BITS = 128;
  private static final int HEXADECIMAL = 16;
  private static final Duration STARTING = Duration.ofSeconds(2);
  private static final long START_PAUSE_MILLIS = 5;

  private final Path library;
  private final Path folder;
  private final String mark;
  private final Watchdog watchdog;
  private final Until until;
  private final ProcessTable table = new ProcessTable(Path.of("/proc"));
  private @Nullable Process guard;
  private @Nullable Tee tee;
  private @Nullable RunProcesses processes;
  private boolean hasBegun;

  private GuardedCommand(Path library, Path folder, String mark, Watchdog watchdog, Until until) {
    this.until = until;
    this.library = library;
    this.folder = folder;
    this.mark = mark;
    this.watchdog = watchdog;
  }

  /**
   * Starts the watchdog.
   *
   * @param home where the distribution is
   */
  public static GuardedCommand prepare(Path home) {
    try {
      Path library = home.resolve("lib");
      Path folder = Files.createTempDirectory("fenceline-");
      // Nobody may guess it, nor see it on a command line: who has it counts as a part of the run.
      String mark = new BigInteger(MARK_BITS, new SecureRandom()).toString(HEXADECIMAL) + ".";
      Files.writeString(folder.resolve("mark"), mark + "\n");
      Until until = Until.in(folder); // Before the watchdog, which opens it.
      Watchdog watchdog = Watchdog.start(library, folder, mark);
      return new GuardedCommand(library, folder, mark, watchdog, until);
    } catch (IOException e) {
      throw new Failure(
          ExitCode.SYSTEM,
          "can't start the watchdog process, or create its temporary folder: " + e,
          e);
    }
  }

  /**
   * Starts the command, with this process' own streams, and its terminal where that makes sense.
   *
   * @param variables added to the environment
   */
  public void start(List<String> command, Map<String, String> variables)
      throws InterruptedException {
    start(command, variables, null);
  }

  /**
   * As {@link #start(List, Map)}, and shows what the command prints to somebody who keeps it. Such
   * a command has no terminal: its output would not be one anyway.
   */
  public void start(List<String> command, Map<String, String> variables, @Nullable Printed printed)
      throws InterruptedException {
    boolean terminal = printed == null && Terminal.canBeGivenAway();
    List<String> line = new ArrayList<>();
    String guardScript = library.resolve("guard.sh").toString();
    if (terminal) {
      line.addAll(List.of("sh", library.resolve("terminal.sh").toString()));
      line.addAll(List.of(String.valueOf(ProcessHandle.current().pid()), guardScript));
      line.add(folder.toString());
    } else {
      line.addAll(List.of("setsid", "sh", guardScript, folder.toString(), "-"));
    }
    line.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(line).inheritIO();
    if (printed != null) {
      builder.redirectOutput(ProcessBuilder.Redirect.PIPE);
      builder.redirectError(ProcessBuilder.Redirect.PIPE);
    }
    restoreLocale(builder.environment());
    builder.environment().putAll(variables);
    watchdog.awaitReady();
    try {
      Process started = builder.start();
      guard = started;
      tee = printed == null ? null : new Tee(started, printed);
    } catch (IOException e) {
      throw new Failure(ExitCode.SYSTEM, "can't start the guard process: " + e.getMessage(), e);
    }
    try {
      awaitGuard();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      // Something runs by now. Whoever watches it hears of this, too, and keeps the lock.
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

  /**
   * Lets the command run until the end of a lease, also while this process is stopped: the watchdog
   * ends it then, unless this has been called again.
   */
  void allow(CommandHold lease, String signal) {
    try {
      if (until.move(lease)) {
        watchdog.watchClock(signal);
      }
    } catch (IOException e) {
      // The time that was told before stands; while this process runs, it ends the command itself.
    }
  }

  /** Whether the watchdog has ended it, since its time was over. */
  boolean isOverdue() {
    return Files.exists(folder.resolve("overdue"));
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

  /** Whether it has ended, and not only its guard: what it has left behind can be left alone. */
  public boolean hasEndedByItself() {
    Process started = guard;
    // A guard that was killed has a larger exit value.
    return started != null
        && !started.isAlive()
        && (Files.exists(folder.resolve("ended")) || started.exitValue() <= ExitCode.SIGNAL_BASE);
  }

  /** Waits until all was shown that the command has printed before its end. */
  public void awaitPrinted() throws InterruptedException {
    Tee started = tee;
    if (started != null) {
      started.await();
    }
  }

  /** How the command ended: its exit code, or 128 and the signal. */
  public int exitCode() {
    try {
      return Integer.parseInt(Files.readString(folder.resolve("ended")).strip());
    } catch (IOException | NumberFormatException e) {
      Process started = guard;
      return started == null ? KILLED : started.exitValue();
    }
  }

  /**
   * Sends a signal to the command and to all that it started.
   *
   * @return the processes that were alive
   */
  Survivors send(String signal) throws InterruptedException {
    RunProcesses found = awaitGuard();
    if (found == null && signal.equals("KILL")) {
      found = disarm();
    }
    if (found == null) {
      return isAlive() ? Survivors.UNKNOWN : Survivors.NONE;
    }
    if (!signal.equals("KILL")) {
      awaitCommand();
    }
    return found.send(signal);
  }

  /** The processes of the command that are alive, also when it has ended itself. */
  Survivors alive() throws InterruptedException {
    RunProcesses found = awaitGuard();
    if (found == null) {
      return isAlive() ? Survivors.UNKNOWN : Survivors.NONE;
    }
    return found.send("0");
  }

  /** A signal that comes too early would reach nobody; null if there is no guard. */
  private @Nullable RunProcesses awaitGuard() throws InterruptedException {
    long endNanos = System.nanoTime() + STARTING.toNanos();
    do {
      boolean ended = !isAlive();
      if (processes == null) {
        processes = readGuard();
      }
      if (processes != null || ended) {
        return processes;
      }
      TimeUnit.MILLISECONDS.sleep(START_PAUSE_MILLIS);
    } while (System.nanoTime() - endNanos < 0);
    return null;
  }

  /** What it has left; null as long as there is nothing, and it starts no command. */
  private @Nullable RunProcesses readGuard() {
    try {
      String text = Files.readString(folder.resolve("guard"), StandardCharsets.ISO_8859_1);
      if (!text.endsWith("\n")) {
        return null;
      }
      String keeper = text.substring(0, text.indexOf(' '));
      String stat = text.substring(text.indexOf(' ') + 1, text.length() - 1);
      watchdog.introduce(keeper + " " + stat);
      long keeperId = keeper.equals("-") ? 0 : Long.parseLong(keeper);
      return new RunProcesses(table, mark, ProcessTable.Entry.parse(stat), keeperId, watchdog);
    } catch (IOException e) {
      return null;
    }
  }

  /** A guard that has left nothing starts no command any more. */
  private @Nullable RunProcesses disarm() {
    try {
      Files.write(folder.resolve("armed"), new byte[0], StandardOpenOption.TRUNCATE_EXISTING);
    } catch (IOException e) {
      // Without the file it does not start either.
    }
    RunProcesses found = readGuard();
    Process started = guard;
    if (found == null && started != null) {
      started.destroyForcibly();
    }
    processes = found;
    return found;
  }

  /**
   * A signal that reaches the guard before it has become the command, or has started it, would be
   * lost.
   */
  private void awaitCommand() throws InterruptedException {
    long endNanos = System.nanoTime() + STARTING.toNanos();
    RunProcesses found = processes;
    while (!hasBegun && found != null && isAlive() && System.nanoTime() - endNanos < 0) {
      hasBegun = found.hasBegun(folder.toString());
      if (!hasBegun) {
        TimeUnit.MILLISECONDS.sleep(START_PAUSE_MILLIS);
      }
    }
    hasBegun = true;
  }

  /** Leaves a command that has ended; one that still runs is killed. */
  @Override
  public void close() {
    if (isAlive()) {
      watchdog.abandon();
      return;
    }
    watchdog.dismiss();
    try {
      until.close();
      for (String file : List.of("armed", "mark", "guard", "until", "overdue", "ended", "jobs")) {
        Files.deleteIfExists(folder.resolve(file));
      }
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      // What is left is a small folder among other temporary files.
    }
  }
}
