package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What util-linux's own test of {@code flock} (tests/ts/misc/flock) asks for, one by one, asked of
 * {@code fenceline run}: the same options, and exit codes as it documents them.
 */
class FlockScenariosIT {
  @TempDir Path folder;
  private Tool tool;
  private Call holder;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  private void hold(String... mode) {
    String[] args = new String[mode.length + 4];
    args[0] = "run";
    System.arraycopy(mode, 0, args, 1, mode.length);
    args[mode.length + 1] = "x";
    args[mode.length + 2] = "-c";
    args[mode.length + 3] = "echo in; exec sleep 1000";
    holder = tool.start(args);
    holder.firstLine();
  }

  @AfterEach
  void release() {
    if (holder != null) {
      holder.process.destroy();
      assertThat(holder.await().code()).isEqualTo(143);
    }
  }

  @Test
  void generalLock_runsTheCommand_andExitsAsItDoes() {
    assertThat(tool.run("run", "--shared", "x", "-c", "echo locked"))
        .isEqualTo(new Result(0, "locked\n", ""));
    assertThat(tool.run("run", "--exclusive", "x", "--", "false").code()).isOne();
  }

  @Test
  void nonBlock_failsAtOnce_withTheConflictCode() {
    hold("-x");
    assertThat(tool.run("run", "--nonblock", "x", "--", "true").code()).isEqualTo(75);
    assertThat(tool.run("run", "--nb", "x", "--", "true").code()).isEqualTo(75);
    assertThat(
            tool.run("run", "--nonblock", "--conflict-exit-code", "123", "x", "--", "true").code())
        .isEqualTo(123);
    assertThat(tool.run("run", "--nonblock", "-E", "0", "x", "--", "false").code()).isZero();
  }

  @Test
  void timeout_isWaitedFor_andThenConflicts() {
    hold("-x");
    long from = System.nanoTime();
    Result result = tool.run("run", "--timeout", "0.5", "-E", "5", "x", "--", "true");
    assertThat(result.code()).isEqualTo(5);
    assertThat(System.nanoTime() - from).isGreaterThan(500_000_000L);
  }

  @Test
  void aTimeoutOfZero_doesNotWait() {
    hold("-x");
    assertThat(tool.run("run", "-w", "0", "x", "--", "true").code()).isEqualTo(75);
  }

  @Test
  void aSharedLock_letsSharersIn_andNobodyElse() {
    hold("-s");
    assertThat(tool.run("run", "-s", "-n", "x", "--", "true").code()).isZero();
    assertThat(tool.run("run", "-x", "-n", "x", "--", "true").code()).isEqualTo(75);
  }

  @Test
  void anExclusiveLock_waitsForASharer_andThenRuns() throws Exception {
    hold("-s");
    Call writer = tool.start("run", "-x", "x", "-c", "echo wrote");
    io.fenceline.testkit.Eventually.until(
        Tool.PATIENCE, "the writer to wait", () -> tool.waiters("") == 1);
    assertThat(writer.out()).isEmpty();
    release();
    holder = null;
    assertThat(writer.await()).isEqualTo(new Result(0, "wrote\n", ""));
  }

  @Test
  void noFork_unlock_andADescriptor_areAnsweredWithWhatToUseInstead() {
    assertThat(tool.run("run", "--no-fork", "x", "--", "true").err())
        .contains("-F: the tool must keep running beside the command");
    assertThat(tool.run("run", "-u", "x", "--", "true").err()).contains("fenceline release");
    assertThat(tool.run("run", "-o", "x", "--", "true").code()).isZero();
    Result descriptor = tool.run("run", "-x", "9");
    assertThat(descriptor.code()).isEqualTo(64);
    assertThat(descriptor.err()).contains("no form with a file descriptor", "fenceline hold");
    assertThat(tool.run("run", "--on-lost", "stop", "x", "--", "true").err())
        .contains("'stop' is none of kill, term, warn");
  }

  @Test
  void theVersionAndTheHelp_arePrinted() {
    assertThat(tool.run("--version").out()).startsWith("fenceline ");
    assertThat(tool.run("run", "--help").out()).contains("--conflict-exit-code");
  }
}
