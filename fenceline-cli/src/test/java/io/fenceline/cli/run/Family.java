package io.fenceline.cli.run;

import io.fenceline.cli.tool.Tool;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Commands whose processes are not all in the process group that the tool started. Each process
 * that would go on for long writes its id to a file, so that a second run can look for it.
 */
enum Family {
  /** GNU timeout makes a group of its own. */
  TIMEOUT(2, "echo $PPID $$ >>pids-timeout; exec sleep 1000", "timeout", "1000", "sh"),
  /** A shell with job control makes a group for each job. */
  JOBS(2, "set -m; sleep 1000 & echo $$ $! >>pids-jobs; wait", "bash"),
  /** The last one does not end with the first. */
  PIPELINE(
      2,
      "sh -c 'echo $$ >>pids-pipeline; exec sleep 1000'"
          + " | sh -c 'echo $$ >>pids-pipeline; exec sleep 1000'",
      "sh"),
  /** An orphan in a group of its own, which does not end when it is asked to. */
  DAEMON(
      2,
      "set -m; (trap '' TERM; sleep 1000 & echo $! >>pids-daemon);"
          + " echo $$ >>pids-daemon; exec sleep 1000",
      "bash"),
  /** Sends what ends a shell to its whole group, but does not end itself. */
  ALARM(1, "trap '' ALRM; kill -ALRM 0; echo $$ >>pids-alarm; exec sleep 1000", "sh"),
  /** A run inside the run, which needs longer to end its command than it gets. */
  NESTED(
      1,
      "trap '' TERM; echo $$ >>pids-nested; while :; do sleep 1; done",
      Tool.LAUNCHER.toString(),
      "run",
      "inner",
      "--connect-timeout=60s",
      "--grace=14s",
      "--",
      "sh");

  private final int processes;
  private final String script;
  private final List<String> interpreter;

  Family(int processes, String script, String... interpreter) {
    this.processes = processes;
    this.script = script;
    this.interpreter = List.of(interpreter);
  }

  /** The lock's name. */
  String lock() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The command, to be run in the folder. */
  List<String> command(Path folder) throws IOException {
    Files.writeString(folder.resolve(lock() + ".sh"), script + "\n");
    List<String> command = new ArrayList<>(interpreter);
    command.add(lock() + ".sh");
    return command;
  }

  /** Waits until all of them are there, and returns their ids. */
  List<Long> await(Path folder) {
    return Eventually.until(
        Tool.PATIENCE,
        "the processes of " + lock(),
        () -> pids(folder),
        pids -> pids.size() == processes);
  }

  private List<Long> pids(Path folder) throws IOException {
    try {
      return Arrays.stream(Files.readString(folder.resolve("pids-" + lock())).strip().split("\\s+"))
          .map(Long::valueOf)
          .toList();
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  /** A shell line that prints who of them is alive, and then "second". */
  String look() {
    return "for p in $(cat pids-%s); do s=; read -r s </proc/$p/stat && case ${s##*) } in Z*) ;; *) echo alive $p $s; esac; done 2>/dev/null; echo second"
        .formatted(lock());
  }

  /** Ends those that a failed test has left. */
  void clean(Path folder) throws Exception {
    for (long pid : pids(folder)) {
      if (Tool.lives(pid) && Tool.environment(pid).contains(folder.toString())) {
        Tool.signal("KILL", pid);
      }
    }
  }
}
