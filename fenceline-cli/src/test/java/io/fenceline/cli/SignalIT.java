package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.Tool.Call;
import io.fenceline.cli.Tool.Result;
import io.fenceline.testkit.server.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the command and its lock when the tool, or the store, does not go on. */
class SignalIT {
  /** Prints its own process id and that of a child that outlives a signal to the parent alone. */
  private static final String FAMILY = "sleep 100 & echo $$ $!; wait";

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
    return tool.run("run", "-n", name, "--", "true").code() == 0;
  }

  @Test
  void aKilledTool_takesTheCommandAndItsChildrenAlong_beforeTheLeaseEnds() throws Exception {
    List<Path> before = pipeFolders();
    Call call = tool.start("run", "job", "--lease", "15s", "-c", FAMILY);
    long[] family = pids(call);
    assertThat(Tool.lives(family[0]) && Tool.lives(family[1])).isTrue();

    call.signal("KILL");
    assertGone(family);

    // The name is still held: so the lease had not ended when the command was gone.
    assertThat(isFree("job")).isFalse();
    Eventually.until(Tool.PATIENCE, "the name to open", () -> isFree("job"));
    List<Path> left = pipeFolders();
    left.removeAll(before); // What an earlier run has left is not this tool's.
    assertThat(left).noneMatch(SignalIT::isOldPipe);
  }

  private static List<Path> pipeFolders() throws IOException {
    try (var all = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return all.filter(f -> f.getFileName().toString().startsWith("fenceline-"))
          .filter(f -> Files.exists(f.resolve("pipe")))
          .collect(Collectors.toCollection(ArrayList::new));
    }
  }

  /** Other tests may run beside this one; what they use is young. */
  private static boolean isOldPipe(Path folder) {
    try {
      return Files.getLastModifiedTime(folder).toMillis()
          < System.currentTimeMillis() - Duration.ofMinutes(10).toMillis();
    } catch (java.io.IOException e) {
      return false;
    }
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
    Eventually.until(
        Tool.PATIENCE,
        "the waiter to queue",
        () -> tool.run("show", "job", "--json").out().contains("\"waiters\": [\n"));
    waiter.signal("TERM");

    Result result = waiter.await();
    assertThat(result.code()).isEqualTo(143);
    assertThat(result.out()).isEmpty();
    assertThat(tool.run("show", "job", "--json").out()).contains("\"waiters\": []");
    holder.process.destroy();
    holder.await();
  }

  @Test
  void aToolThatWasStoppedPastItsLease_killsTheCommand_andExitsWith79() throws Exception {
    Call call = tool.start("run", "job", "--lease", "2s", "-c", FAMILY);
    long[] family = pids(call);
    call.signal("STOP");
    Eventually.until(Tool.PATIENCE, "another to get the name", () -> isFree("job"));
    // A stopped tool can do nothing: the command runs on, which is what tokens are for.
    assertThat(Tool.lives(family[0]) && Tool.lives(family[1])).isTrue();
    call.signal("CONT");

    Result result = call.await();
    assertThat(result.code()).isEqualTo(79);
    assertThat(result.err()).contains("lock 'job' is lost").contains("the command is killed");
    assertGone(family);
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
}
