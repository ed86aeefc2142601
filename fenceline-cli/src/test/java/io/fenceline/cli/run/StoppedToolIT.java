package io.fenceline.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Servers;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A tool that is stopped can end nothing: whoever is beside its command does, in time. */
@Execution(ExecutionMode.CONCURRENT)
class StoppedToolIT {
  private static final Duration LEASE = Duration.ofSeconds(6);

  @TempDir Path folder;

  /** A process that ends when the command has to have ended: it suffers from load as that does. */
  private static Process limit() throws Exception {
    return new ProcessBuilder("sleep", String.valueOf(LEASE.toSeconds() + 1)).start();
  }

  private static char state(long pid) throws Exception {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    return stat.charAt(stat.lastIndexOf(')') + 2);
  }

  private Call hold(Tool tool, String... more) {
    List<String> args = new ArrayList<>(List.of("run", "job", "--lease", LEASE.toSeconds() + "s"));
    args.addAll(List.of("--connect-timeout", "60s"));
    args.addAll(List.of(more));
    args.addAll(List.of("-c", "trap '' TERM; sleep 1000 & echo $$ $!; wait; wait; wait"));
    return tool.start(args.toArray(String[]::new));
  }

  private static List<Long> pids(Call call) {
    return List.of(call.firstLine().strip().split(" ")).stream().map(Long::valueOf).toList();
  }

  @ParameterizedTest
  @EnumSource
  void theCommandIsEnded_oneSecondAfterTheLease_whileTheToolIsStillStopped(Servers store)
      throws Exception {
    Tool tool = new Tool(folder);
    tool.environment.put("FENCELINE_STORE", store.uri(folder));
    Call call = hold(tool);
    List<Long> pids = pids(call);
    call.signal("STOP");
    long from = System.nanoTime();
    Process limit = limit();

    Eventually.until(
        Tool.PATIENCE, "the command to end", () -> pids.stream().noneMatch(Tool::lives));

    boolean inTime = limit.isAlive();
    System.out.printf(
        "%s: ended %.1f s after the stop, lease %s%n",
        store, (System.nanoTime() - from) / 1e9, LEASE);
    assertThat(inTime).as("in time").isTrue();
    assertThat(state(call.process.pid())).isEqualTo('T');
    call.signal("CONT");
    Result result = call.await();
    assertThat(result.code()).as(result.toString()).isEqualTo(79);
    // On a busy machine the stop may have come when the lease could not be renewed, either.
    assertThat(result.err())
        .containsAnyOf("ended with its lease, while this tool was stopped", "in danger", "is lost");
    limit.destroy();
  }

  @Test
  void renewalsMoveTheEnd_alsoAfterAShortStop() throws Exception {
    Tool tool = new Tool(folder);
    Call call = hold(tool);
    List<Long> pids = pids(call);
    Process twice = new ProcessBuilder("sleep", String.valueOf(2 * LEASE.toSeconds())).start();
    call.signal("STOP");
    assertThat(new ProcessBuilder("sleep", "1").start().waitFor()).isZero();
    call.signal("CONT");
    assertThat(twice.waitFor()).isZero();
    boolean wentOn = pids.stream().allMatch(Tool::lives);
    call.signal("KILL");
    // A machine that gave the tool no time for half a lease is not the tool's fault, and it says
    // so.
    assertThat(wentOn || call.err().contains("lost")).as(call.err()).isTrue();
    Eventually.until(Tool.PATIENCE, "all to end", () -> pids.stream().noneMatch(Tool::lives));
  }

  @Test
  void aWatcherOfTheClockThatWasKilled_isReplaced() throws Exception {
    Tool tool = new Tool(folder);
    Call call = hold(tool);
    List<Long> pids = pids(call);
    List<Long> killed = clocks(call);
    assertThat(killed).isNotEmpty();
    for (long clock : killed) {
      Tool.signal("KILL", clock);
    }
    Eventually.until(
        Tool.PATIENCE,
        "another one",
        () -> clocks(call),
        found -> found.stream().anyMatch(each -> !killed.contains(each)));
    call.signal("STOP");
    Eventually.until(
        Tool.PATIENCE, "the command to end", () -> pids.stream().noneMatch(Tool::lives));
    call.signal("CONT");
    assertThat(call.await().code()).isEqualTo(79);
  }

  /** The shells below the watchdog. */
  private static List<Long> clocks(Call call) {
    return call.process
        .toHandle()
        .children()
        .filter(child -> Tool.commandLine(child.pid()).contains("watchdog.sh"))
        .flatMap(ProcessHandle::children)
        .filter(child -> Tool.commandLine(child.pid()).contains("watchdog.sh"))
        .map(ProcessHandle::pid)
        .filter(Tool::lives)
        .toList();
  }

  @Test
  void withWarn_theCommandGoesOn() throws Exception {
    Tool tool = new Tool(folder);
    Call call = hold(tool, "--on-lost", "warn");
    List<Long> pids = pids(call);
    call.signal("STOP");
    assertThat(limit().waitFor()).isZero();
    assertThat(pids).allMatch(Tool::lives);
    call.process.destroyForcibly();
    Eventually.until(Tool.PATIENCE, "all to end", () -> pids.stream().noneMatch(Tool::lives));
  }
}
