package io.fenceline.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Releases that get no turn at the store, as in a crowd on one SQLite file. */
@Execution(ExecutionMode.CONCURRENT)
class UnconfirmedReleaseIT {
  private static final String NOT_CONFIRMED = "did not confirm that lock 'job' is released";

  @TempDir Path folder;
  private Tool tool;
  private Connection blocker;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  @AfterEach
  void stop() throws SQLException {
    if (blocker != null) {
      blocker.close();
    }
  }

  /** From now on nobody can write to the file. */
  private void block() throws SQLException {
    blocker = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locks.db"));
    try (Statement statement = blocker.createStatement()) {
      statement.execute("PRAGMA busy_timeout = 60000");
      statement.execute("BEGIN IMMEDIATE");
    }
  }

  /** Its command prints its id, and ends as soon as there is a file. */
  private Call run(String... more) {
    String[] args = new String[more.length + 4];
    args[0] = "run";
    args[1] = "job";
    System.arraycopy(more, 0, args, 2, more.length);
    args[more.length + 2] = "-c";
    args[more.length + 3] =
        "sleep 1000 >/dev/null 2>&1 & echo $!; until [ -e end ]; do sleep 0.05; done";
    return tool.start(args);
  }

  /** The command ends, and its release gets no turn for so long. */
  private void endUnderBlock(int seconds) throws Exception {
    block();
    Files.createFile(folder.resolve("end"));
    assertThat(new ProcessBuilder("sleep", String.valueOf(seconds)).start().waitFor()).isZero();
  }

  @Test
  void aReleaseIsRepeatedUntilItIsConfirmed_andTheNextIsNotKeptWaiting() throws Exception {
    Call call = run("--lease", "90s", "-v");
    long leftBehind = Long.parseLong(call.firstLine().strip());
    // Longer than one request may take, and than the close of a client takes.
    endUnderBlock(9);
    assertThat(call.process.isAlive()).as(call.err()).isTrue();
    blocker.close();

    Result result = call.await();

    assertThat(result.code()).as(result.toString()).isZero();
    assertThat(result.err())
        .contains("has not confirmed yet that lock 'job' is released; it is asked again for")
        .doesNotContain(NOT_CONFIRMED);
    assertThat(tool.isFree("job")).isTrue();
    assertThat(Tool.lives(leftBehind)).isTrue();
    Tool.signal("KILL", leftBehind);
  }

  @Test
  void anEndOfTheLease_endsTheRepeats_andLeavesAloneWhatTheCommandHasLeftBehind() throws Exception {
    Call call = run("--lease", "10s");
    long leftBehind = Long.parseLong(call.firstLine().strip());
    block();
    Files.createFile(folder.resolve("end"));

    Result result = call.await();

    assertThat(result.code()).as(result.toString()).isZero();
    assertThat(result.err()).contains(NOT_CONFIRMED).hasLineCount(1);
    assertThat(Tool.lives(leftBehind)).isTrue();
    Tool.signal("KILL", leftBehind);
  }

  @Test
  void aSignal_endsTheRepeats() throws Exception {
    Call call = run("--lease", "10m", "-v");
    long leftBehind = Long.parseLong(call.firstLine().strip());
    block();
    Files.createFile(folder.resolve("end"));
    Eventually.until(
        Tool.PATIENCE, "the first answer", call::err, said -> said.contains("it is asked again"));
    call.signal("TERM");

    Result result = call.await();

    assertThat(result.code()).as(result.toString()).isZero();
    assertThat(result.err()).contains(NOT_CONFIRMED);
    Tool.signal("KILL", leftBehind);
  }

  @Test
  void holdRepeatsItToo_andSaysWhatIsNotConfirmed() throws Exception {
    Call confirmed = tool.start(ProcessBuilder.Redirect.PIPE, "hold", "job", "--lease", "90s");
    confirmed.firstLine();
    block();
    confirmed.process.getOutputStream().close();
    assertThat(new ProcessBuilder("sleep", "9").start().waitFor()).isZero();
    blocker.close();
    assertThat(confirmed.await()).matches(result -> result.code() == 0 && result.err().isEmpty());
    assertThat(tool.isFree("job")).isTrue();

    Call given = tool.start(ProcessBuilder.Redirect.PIPE, "hold", "job", "--lease", "10m");
    given.firstLine();
    block();
    given.signal("TERM");
    Result result = given.await();
    assertThat(result.code()).as(result.toString()).isEqualTo(143);
    assertThat(result.err()).contains(NOT_CONFIRMED);
  }
}
