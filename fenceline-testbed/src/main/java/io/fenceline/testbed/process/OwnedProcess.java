package io.fenceline.testbed.process;

import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A process that this JVM started, together with all that it started in turn. */
final class OwnedProcess {

  // The kernel kills the process when the thread that started it ends (setpriv --pdeathsig). So one
  // thread starts them all and lives as long as this JVM: servers die with it even if it is killed
  // and no shutdown hook runs.
  private static final ExecutorService STARTER =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "fenceline-testbed-process-starter");
            thread.setDaemon(true);
            return thread;
          });

  private static final Duration SIGNAL_BOUND = Duration.ofSeconds(10);

  private final Process process;

  private OwnedProcess(Process process) {
    this.process = process;
  }

  /** Starts {@code builder}'s command, tied to the life of this JVM. */
  static OwnedProcess start(ProcessBuilder builder, RunAs user) {
    List<String> command = new ArrayList<>();
    command.add(Debian.program("setpriv", "util-linux"));
    command.addAll(user.setprivOptions());
    command.addAll(List.of("--pdeathsig", "KILL", "--"));
    command.addAll(builder.command());
    builder.command(command);
    Future<Process> started = STARTER.submit(builder::start);
    try {
      OwnedProcess owned = new OwnedProcess(started.get());
      AtExit.kill(owned);
      return owned;
    } catch (ExecutionException e) {
      throw new HarnessException("Could not start " + command, e);
    } catch (InterruptedException e) {
      started.cancel(false);
      Thread.currentThread().interrupt();
      throw new HarnessException("Interrupted while starting " + command, e);
    }
  }

  Process process() {
    return process;
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  ProcessState state() {
    return isAlive() ? ProcessState.of(pid()) : ProcessState.GONE;
  }

  /** Sends a signal to the process alone, not to its children. */
  void signal(String name) {
    if (isAlive()) {
      send(name, List.of(pid()));
    }
  }

  /** Ends it all with SIGKILL; returns when the process is gone. */
  void kill() {
    // The parent first: it can start nothing more while its children are being killed.
    List<ProcessHandle> children = process.descendants().toList();
    process.destroyForcibly();
    awaitEnd();
    children.forEach(ProcessHandle::destroyForcibly);
    // By the kernel's word: an orphan stays "alive" for Java until init has reaped it.
    Eventually.until(
        SIGNAL_BOUND,
        "the children of process " + pid() + " to end",
        () -> children.stream().allMatch(child -> ProcessState.of(child.pid()).isEnded()));
    AtExit.forget(this);
  }

  /** Waits until the process is gone; a failure of the harness if it is not in time. */
  void awaitEnd() {
    Eventually.until(SIGNAL_BOUND, "process " + pid() + " to end", () -> !process.isAlive());
  }

  /** Stops it all with SIGSTOP; returns when the kernel shows every process as stopped. */
  void pause() {
    Eventually.until(
        SIGNAL_BOUND,
        "process " + pid() + " and its children to be stopped",
        () -> {
          List<Long> running = awake();
          if (running.isEmpty()) {
            return true;
          }
          send("STOP", running);
          return awake().isEmpty();
        });
  }

  private List<Long> awake() {
    return all().stream().filter(pid -> isAwake(ProcessState.of(pid))).toList();
  }

  private static boolean isAwake(ProcessState state) {
    return state != ProcessState.STOPPED && !state.isEnded();
  }

  /** Lets it all run again with SIGCONT; returns when no process is stopped any more. */
  void resume() {
    if (!isAlive()) {
      return;
    }
    send("CONT", all());
    Eventually.until(
        SIGNAL_BOUND,
        "process " + pid() + " and its children to run",
        () -> all().stream().noneMatch(pid -> ProcessState.of(pid) == ProcessState.STOPPED));
  }

  private List<Long> all() {
    List<Long> pids = new ArrayList<>();
    if (isAlive()) {
      pids.add(pid());
      process.descendants().map(ProcessHandle::pid).forEach(pids::add);
    }
    return pids;
  }

  private static void send(String signal, List<Long> pids) {
    // The shell's own kill, because procps is not everywhere. One that has just ended is no error.
    List<String> command =
        new ArrayList<>(List.of("/bin/sh", "-c", "kill -s \"$0\" \"$@\"", signal));
    pids.forEach(pid -> command.add(Long.toString(pid)));
    try {
      Process kill =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      Eventually.until(SIGNAL_BOUND, "kill -s " + signal, () -> !kill.isAlive());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
