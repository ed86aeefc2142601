package io.fenceline.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Instant;
import java.util.Comparator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the command and its lock when the tool, or the store, does not go on. */
class SignalIT {
  /** Prints its own process id and that of a child that outlives a signal to the parent alone. */
  private static final String FAMILY = "sleep 1000 & echo $$ $!; wait";

  @TempDir Path folder;
  private Tool tool;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  private static long[] pids(Call call) {
    String[] words = call.firstLine().strip().split(" ");
    return new long[] {Long.parseLong(words[0]), Long.parseLong(words[words.length - 1])};
  }

  private static void assertGone(long... pids) {
    for (long pid : pids) {
      Eventually.until(Tool.PATIENCE, "process " + pid + " to end", () -> !Tool.lives(pid));
    }
  }

  private boolean isFree(String name) {
    return tool.isFree(name);
  }

  @Test
  void aKilledTool_takesTheCommandAndItsChildrenAlong_beforeTheLeaseEnds() throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    tool.environment.put("FENCELINE_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary);
    Call call = tool.start("run", "job", "--lease", "15s", "-c", FAMILY);
    long[] family = pids(call);
    assertThat(Tool.lives(family[0]) && Tool.lives(family[1])).isTrue();

    call.signal("KILL");
    assertGone(family);

    // The name is still held: so the lease had not ended when the command was gone.
    assertThat(isFree("job")).isFalse();
    Eventually.until(Tool.PATIENCE, "the name to open", () -> isFree("job"));
    Eventually.until(
        Tool.PATIENCE, "the folder of the run to be removed", () -> isEmpty(temporary));
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (var all = Files.list(folder)) {
      return all.findAny().isEmpty();
    }
  }

  @Test
  void aKilledWatchdog_isReplaced_andTheNewOneDoesItsWork() throws Exception {
    Call call = tool.start("run", "job", "-c", FAMILY);
    long[] family = pids(call);
    long first = watchdog();
    Tool.signal("KILL", first);
    Eventually.until(Tool.PATIENCE, "another watchdog", this::watchdog, pid -> pid != first);

    call.signal("KILL");
    assertGone(family);
  }

  @Test
  void aWatchdogThatIsStopped_isReplaced_whenItIsNeeded() throws Exception {
    Call call = tool.start("run", "job", "-c", FAMILY);
    long[] family = pids(call);
    Tool.signal("STOP", watchdog());
    call.signal("TERM");

    assertThat(call.await().code()).isEqualTo(143);
    assertGone(family);
  }

  private long watchdog() {
    return ProcessHandle.allProcesses()
        .map(ProcessHandle::pid)
        .filter(pid -> Tool.commandLine(pid).matches("sh .*/watchdog\\.sh .*"))
        .filter(pid -> Tool.environment(pid).contains(folder.toString()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void whatTheCommandLeavesBehind_isLeftAlone_asTheManPageSays() throws Exception {
    Result result = tool.run("run", "job", "-c", "sleep 1000 >/dev/null & echo $!");
    long left = Long.parseLong(result.line());
    assertThat(result.code()).isZero();
    assertThat(isFree("job")).isTrue();
    assertThat(Tool.lives(left)).isTrue();
    Tool.signal("KILL", left);
  }

  @Test
  void aSessionOfItsOwn_isOutOfReach_asTheManPageSays() throws Exception {
    Call call =
        tool.start(
            "run",
            "job",
            "-c",
            "setsid sh -c 'echo $$ >away; exec sleep 1000' & echo $$; exec sleep 1000");
    long pid = Long.parseLong(call.firstLine().strip());
    String away =
        Eventually.until(
            Tool.PATIENCE,
            "the other session",
            () -> Files.readString(folder.resolve("away")),
            text -> text.endsWith("\n"));
    call.signal("TERM");

    assertThat(call.await().code()).isEqualTo(143);
    assertGone(pid);
    assertThat(Tool.lives(Long.parseLong(away.strip()))).isTrue();
    Tool.signal("KILL", Long.parseLong(away.strip()));
  }

  @Test
  void aToolThatIsAskedToEnd_endsTheCommand_andReleases() throws Exception {
    for (String signal : new String[] {"TERM", "INT", "HUP"}) {
      Call call =
          tool.start(
              "run",
              "job",
              "-c",
              "trap 'echo "
                  + signal
                  + "; exit 42' "
                  + signal
                  + "; echo go; while :; do sleep 0.1; done");
      call.firstLine();
      call.signal(signal);

      Result result = call.await();
      assertThat(result.out()).isEqualTo("go\n" + signal + "\n");
      assertThat(result.code()).isEqualTo(42);
      assertThat(isFree("job")).isTrue();
    }
  }

  @Test
  void aCommandThatIgnoresTerm_isKilledAfterTheGrace() throws Exception {
    Call call =
        tool.start(
            "run",
            "job",
            "--grace",
            "1s",
            "-c",
            "trap '' TERM; echo $$; while :; do sleep 0.1; done");
    long pid = Long.parseLong(call.firstLine().strip());
    call.signal("TERM");

    assertThat(call.await().code()).isEqualTo(137);
    assertGone(pid);
    assertThat(isFree("job")).isTrue();
  }

  @Test
  void aToolThatWaits_leavesNothingBehindWhenItIsAskedToEnd() throws Exception {
    Call holder = tool.start("run", "job", "-c", "echo go; exec sleep 100");
    holder.firstLine();
    Call waiter = tool.start("run", "job", "-c", "echo never");
    Eventually.until(Tool.PATIENCE, "the waiter to queue", () -> tool.waiters("job") == 1);
    waiter.signal("TERM");

    Result result = waiter.await();
    assertThat(result.code()).isEqualTo(143);
    assertThat(result.out()).isEmpty();
    assertThat(tool.waiters("job")).isZero();
    holder.process.destroy();
    holder.await();
  }

  @Test
  void aHoldThatWaits_leavesNothingBehindWhenItIsAskedToEnd() throws Exception {
    Call holder = tool.start("run", "job", "-c", "echo go; exec sleep 100");
    holder.firstLine();
    Call waiter = tool.start(ProcessBuilder.Redirect.PIPE, "hold", "job");
    Eventually.until(Tool.PATIENCE, "the waiter to queue", () -> tool.waiters("job") == 1);
    waiter.signal("INT");

    Result result = waiter.await();
    assertThat(result.code()).isEqualTo(130);
    assertThat(result.out()).isEmpty();
    assertThat(tool.waiters("job")).isZero();
    holder.process.destroy();
    holder.await();
  }

  @Test
  void aToolThatWasStoppedPastItsLease_findsItsCommandEnded_andExitsWith79() throws Exception {
    Call call = tool.start("run", "job", "--lease", "2s", "-c", FAMILY);
    long[] family = pids(call);
    call.signal("STOP");
    Eventually.until(Tool.PATIENCE, "another to get the name", () -> isFree("job"));
    assertGone(family); // By whoever watches the clock beside it; the tool is still stopped.
    call.signal("CONT");

    Result result = call.await();
    assertThat(result.code()).isEqualTo(79);
    assertThat(result.err()).containsAnyOf("lock 'job' is lost", "lock 'job' was lost");
  }

  @Test
  void aStoreThatGoesAway_endsTheCommandInTime() throws Exception {
    Call call =
        tool.start(
            "run",
            "job",
            "--lease",
            "4s",
            "--grace",
            "1500ms",
            "-c",
            "trap 'echo TERM' TERM; echo $$; while :; do sleep 0.05; done");
    long pid = Long.parseLong(call.firstLine().strip());
    try (Connection blocker =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locks.db"));
        Statement statement = blocker.createStatement()) {
      statement.execute("PRAGMA busy_timeout = 20000");
      statement.execute("BEGIN EXCLUSIVE");

      Result result = call.await();
      assertThat(result.code()).isEqualTo(79);
      assertThat(result.out()).isEqualTo(pid + "\nTERM\n");
      assertThat(result.err()).contains("is in danger").contains("is asked to end");
      assertGone(pid);
      statement.execute("ROLLBACK");
    }
  }

  @Test
  void aStderrThatNobodyReads_keepsNoCommandAlive() throws Exception {
    // As a pager, or a terminal after Ctrl-S: what the command prints fills the pipe.
    Path launcher = Files.writeString(folder.resolve("launcher"), "#!/bin/sh\nmkfifo stderr\n");
    Files.writeString(
        launcher, "exec 2<>stderr " + Tool.LAUNCHER + " \"$@\"\n", StandardOpenOption.APPEND);
    Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwx------"));
    Tool unread = new Tool(folder);
    unread.launcher = launcher;
    Call call =
        unread.start(
            "run",
            "job",
            "--lease",
            "4s",
            "--grace",
            "1500ms",
            "-c",
            "yes >&2 & trap '' TERM; echo $$ $!; while :; do sleep 0.05; done");
    long[] family = pids(call);
    try (Connection blocker =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locks.db"));
        Statement statement = blocker.createStatement()) {
      statement.execute("PRAGMA busy_timeout = 20000");
      statement.execute("BEGIN EXCLUSIVE");

      assertGone(family);
      assertThat(call.await().code()).isEqualTo(79);
      statement.execute("ROLLBACK");
    }
  }

  @Test
  void onLostWarn_letsTheCommandFinish_andStillTells() throws Exception {
    Call call =
        tool.start(
            "run",
            "job",
            "--on-lost=warn",
            "-c",
            "echo $FENCELINE_TOKEN; until [ -e released ]; do sleep 0.05; done; sleep 1; echo done");
    String token = call.firstLine().strip();
    assertThat(tool.run("release", "job", "--token", token, "--yes").code()).isZero();
    Files.createFile(folder.resolve("released"));

    Result result = call.await();
    assertThat(result.out()).endsWith("done\n");
    assertThat(result.code()).isEqualTo(79);
    assertThat(result.err()).contains("lost");
  }

  @Test
  void aCommandThatWasKilled_leavesNobodyBehind() throws Exception {
    Call call = tool.start("run", "job", "--", "bash", "-c", "set -m; " + FAMILY);
    long[] family = pids(call);
    Tool.signal("KILL", family[0]);

    assertThat(call.await().code()).isEqualTo(137);
    assertThat(Tool.lives(family[1])).isFalse();
  }

  @Test
  void aCommandThatWasKilled_atTheSameTimeAsTheTool_leavesNobodyBehind() throws Exception {
    Call call = tool.start("run", "job", "--", "bash", "-c", "set -m; " + FAMILY);
    long[] family = pids(call);
    call.signal("STOP");
    Tool.signal("KILL", family[0]);
    assertGone(family[0]);
    call.signal("KILL");

    assertGone(family[1]);
  }

  /** A tool whose scripts are changed; the text must be there. */
  private void change(String script, String text, String changed) throws Exception {
    Path copy = folder.resolve("dist");
    if (!Files.exists(copy)) {
      Process copying =
          new ProcessBuilder("cp", "-r", Tool.DIST.toString(), copy.toString()).start();
      assertThat(copying.waitFor()).isZero();
      tool.launcher = copy.resolve("bin/fenceline");
    }
    Path file = copy.resolve("lib").resolve(script);
    String before = Files.readString(file);
    assertThat(before).contains(text);
    Files.writeString(file, before.replace(text, changed));
  }

  /** As those do who remove what is old among temporary files, by which time all have read them. */
  private static void tidy(Path temporary) throws IOException {
    Eventually.until(
        Tool.PATIENCE,
        "the files to be old",
        () -> {
          try (var all = Files.walk(temporary)) {
            Instant old = Instant.now().minusSeconds(5);
            return all.filter(file -> file.endsWith("guard"))
                .allMatch(file -> file.toFile().lastModified() < old.toEpochMilli());
          }
        });
    try (var all = Files.walk(temporary)) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        if (!file.equals(temporary)) {
          Files.delete(file);
        }
      }
    }
  }

  @Test
  void aFolderThatWasTidiedAway_doesNotFreeTheLock_norLoseTheCommand() throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    tool.environment.put("FENCELINE_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary);
    for (String signal : new String[] {"TERM", "KILL"}) {
      Call call = tool.start("run", "job", "--lease=15s", "--", "bash", "-c", "set -m; " + FAMILY);
      long[] family = pids(call);
      tidy(temporary);
      call.signal(signal);
      assertGone(family);
      assertThat(call.await().code()).isEqualTo(signal.equals("TERM") ? 143 : 137);
      Eventually.until(Tool.PATIENCE, "the name to open", () -> isFree("job"));
    }
    Call call =
        tool.start("run", "job", "-c", "echo $$; until [ -e go ]; do sleep 0.05; done; exit 7");
    call.firstLine();
    tidy(temporary);
    Files.createFile(folder.resolve("go"));
    Result result = call.await();
    assertThat(result.code()).isEqualTo(7);
    assertThat(result.err()).isEmpty();
  }

  @Test
  void aWatchdogThatEndsAtOnce_isNotStartedAgainAndAgain() throws Exception {
    change("watchdog.sh", "ending=\n", "echo x >>started\nexit 1\n");
    Call call = tool.start("run", "job", "-c", "echo $$; sleep 2");
    call.firstLine();
    assertThat(call.await().code()).isZero();
    assertThat(Files.readAllLines(folder.resolve("started")).size()).isBetween(2, 10);
  }

  @Test
  void whereTheWatchdogCanNotBeReplaced_theToolEndsTheCommandAllTheSame() throws Exception {
    change("watchdog.sh", "ending=\n", "exit 1\n");
    Call call = tool.start("run", "job", "--", "bash", "-c", "set -m; " + FAMILY);
    long[] family = pids(call);
    call.signal("TERM");
    assertThat(call.await().code()).isEqualTo(143);
    assertGone(family);
  }

  @Test
  void aSignalThatComesBeforeTheCommandRuns_reachesIt() throws Exception {
    // The guard waits for the signal at the worst moment, or for a fifth of a second: far less,
    // also on a
    // busy machine, than the tool waits for the command to begin.
    String hold =
        "trap 'got=yes' TERM; i=0; while [ -z \"$got\" ] && [ $i -lt 20 ]; do sleep 0.01;"
            + " i=$((i+1)); done; trap - TERM; ";
    change("guard.sh", "(exec \"$@\"", "(" + hold + "exec \"$@\"");
    Call call =
        tool.start(
            "run",
            "job",
            "-c",
            "trap 'echo TERM; exit 42' TERM; echo go; while :; do sleep 0.1; done");
    Eventually.until(
        Tool.PATIENCE,
        "the guard",
        () ->
            ProcessHandle.allProcesses()
                .map(ProcessHandle::pid)
                .anyMatch(
                    pid ->
                        Tool.commandLine(pid).matches("sh [^ ]*/guard\\.sh .*")
                            && Tool.environment(pid).contains(folder.toString())));
    call.signal("TERM");
    Result result = call.await();
    // Either it ended the command before that could say so, or the command has heard it.
    assertThat(result.code()).as(result.toString()).isIn(42, 143);
  }
}
