package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Javas;
import io.fenceline.cli.tool.ScriptVariables;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code fenceline run}, with real processes, on the embedded store. */
class RunIT {
  @TempDir Path folder;
  private Tool tool;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  @Test
  void theCommandRunsWithItsToken_andItsExitCodePasses() {
    Result result =
        tool.run("run", "job", "--", "sh", "-c", "echo $FENCELINE_NAME $FENCELINE_TOKEN; exit 7");

    assertThat(result.code()).isEqualTo(7);
    assertThat(result.out()).matches("job [0-9]+\n");
    assertThat(result.err()).isEmpty();
  }

  /** Its preparation goes on beside the opening of the store. */
  @Test
  void aToolThatCantStartItsWatchdog_saysSoAtOnce_andNeitherWaitsForTheLockNorTakesIt()
      throws Exception {
    Call holder = tool.start("run", "job", "-c", "echo in; exec sleep 1000");
    holder.firstLine();
    // Programs without setsid, by which the watchdog is started.
    Path programs = Files.createDirectory(folder.resolve("programs"));
    Files.createSymbolicLink(programs.resolve("java"), Javas.own().resolve("bin/java"));
    Files.createSymbolicLink(programs.resolve("touch"), Path.of("/usr/bin/touch"));
    tool.environment.put("PATH", programs.toString());

    Result result = tool.run("run", "job", "-w", "1000", "--", "touch", "ran");

    assertThat(result.code()).isEqualTo(71);
    assertThat(result.err())
        .startsWith("fenceline: can't start the watchdog process")
        .hasLineCount(1);
    assertThat(holder.process.isAlive()).isTrue();
    holder.signal("TERM");
    assertThat(holder.await().code()).isEqualTo(143);
    assertThat(tool.run("run", "job", "--", "touch", "ran").code()).isEqualTo(71);
    assertThat(folder.resolve("ran")).doesNotExist();
    assertThat(tool.isFree("job")).isTrue();
  }

  @Test
  void aCommandThatASignalEnded_exitsWith128AndTheSignal() {
    assertThat(tool.run("run", "job", "--", "sh", "-c", "kill -KILL $$").code()).isEqualTo(137);
    assertThat(tool.run("run", "job", "-c", "kill -TERM $$").code()).isEqualTo(143);
  }

  @Test
  void stdinIsPipedThrough_andAWordThatShellsKnowIsStillAProgram() throws Exception {
    Path input = Files.writeString(folder.resolve("input"), "one\ntwo\n");
    Call call = tool.start(ProcessBuilder.Redirect.from(input.toFile()), "run", "job", "--", "cat");

    assertThat(call.await().out()).isEqualTo("one\ntwo\n");
    assertThat(tool.run("run", "job", "--", "echo", "-n", "a b", "*").out()).isEqualTo("a b *");
    assertThat(tool.run("run", "job", "--", "exit", "3").code()).isEqualTo(127);
  }

  @Test
  void aNestedRunSeesItsOwnToken_andInheritedVariablesAreReplaced() {
    tool.environment.put("FENCELINE_TOKEN", "1");
    String inner = Tool.LAUNCHER + " run inner -c 'echo $FENCELINE_NAME $FENCELINE_TOKEN'";
    Result result =
        tool.run("run", "outer", "-c", "echo $FENCELINE_NAME $FENCELINE_TOKEN; " + inner);

    List<String> lines = result.out().lines().toList();
    assertThat(lines).hasSize(2);
    assertThat(lines.get(0)).matches("outer [0-9]{5,}");
    assertThat(lines.get(1)).matches("inner [0-9]{5,}");
    assertThat(lines.get(0).split(" ")[1]).isNotEqualTo(lines.get(1).split(" ")[1]);
  }

  @Test
  void aHeldName_isNotAcquired_withFlocksOptions() {
    Call holder = tool.start("run", "job", "-c", "echo in; exec sleep 100");
    holder.firstLine();

    Result now = tool.run("run", "-n", "job", "--", "true");
    assertThat(now.code()).isEqualTo(75);
    assertThat(now.err()).startsWith("fenceline: lock 'job' is held by ").contains("(token=");
    assertThat(now.err().lines()).hasSize(1);

    Result quiet = tool.run("run", "-n", "-q", "job", "--", "true");
    assertThat(quiet.code()).isEqualTo(75);
    assertThat(quiet.err()).isEmpty();

    long start = System.nanoTime();
    Result soon = tool.run("run", "job", "-w", "0.5", "-E", "9", "--", "true");
    assertThat(System.nanoTime() - start).isGreaterThan(500_000_000L);
    assertThat(soon.code()).isEqualTo(9);
    assertThat(soon.err()).contains("was not acquired within 500ms");

    holder.process.destroy();
    holder.await();
  }

  @Test
  void verbose_saysWhatItHas_andALabelIsShown() {
    Result result =
        tool.run("run", "-v", "--label", "billing-7", "job", "--", Tool.LAUNCHER.toString(), "ls");
    assertThat(result.code()).isZero();
    assertThat(result.err()).startsWith("fenceline: lock 'job' is held (token=");
    assertThat(result.out()).contains("billing-7");
  }

  @Test
  void theLauncher_findsItsFolder_throughALinkToIt_andWhateverCdpathSays() throws Exception {
    Files.createSymbolicLink(folder.resolve("bin"), Tool.LAUNCHER.getParent());
    Path elsewhere = Files.createDirectories(folder.resolve("elsewhere/bin")).getParent();
    tool.launcher = Path.of("bin", "fenceline");
    tool.environment.put("CDPATH", elsewhere.toString());

    Result result = tool.run("run", "job", "-c", "echo $CDPATH");

    assertThat(result.err()).isEmpty();
    assertThat(result.line()).isEqualTo(elsewhere.toString());
  }

  @Test
  void holdOfALock_lastsUntilItsInputEnds_andPrintsItsToken() throws Exception {
    Call holder = tool.start(ProcessBuilder.Redirect.PIPE, "hold", "job");
    long token = Long.parseLong(holder.firstLine().strip());
    assertThat(tool.run("run", "-n", "job", "--", "true").code()).isEqualTo(75);
    Result refused = tool.run("hold", "-n", "-E", "9", "job");
    assertThat(refused.code()).isEqualTo(9);
    assertThat(refused.out()).isEmpty();
    assertThat(refused.err())
        .startsWith("fenceline: lock 'job' is held by ")
        .contains("(token=" + token + ")");
    assertThat(tool.run("hold", "-w", "0.1", "-q", "job")).isEqualTo(new Result(75, "", ""));
    holder.process.getOutputStream().write("go on\n".getBytes(StandardCharsets.UTF_8));
    holder.process.getOutputStream().flush();
    assertThat(tool.run("run", "-n", "job", "--", "true").code()).isEqualTo(75);

    holder.process.getOutputStream().close();

    assertThat(holder.await())
        .satisfies(ended -> assertThat(ended.code()).as(ended.err()).isZero());
    Result next = tool.run("run", "-n", "job", "-c", "echo $FENCELINE_TOKEN");
    assertThat(next.code()).as(next.err()).isZero();
    assertThat(Long.parseLong(next.line())).isGreaterThan(token);
  }

  @Test
  void holdOfALock_endsWithASignal_andSaysThatItIsLost() throws Exception {
    Call ended = tool.start(ProcessBuilder.Redirect.PIPE, "hold", "job");
    ended.firstLine();
    ended.signal("TERM");
    assertThat(ended.await().code()).isEqualTo(143);

    Call lost = tool.start(ProcessBuilder.Redirect.PIPE, "hold", "job", "--lease", "3s");
    String token = lost.firstLine().strip();
    assertThat(tool.run("release", "job", "--token", token, "--yes").code()).isZero();
    Result result = lost.await();
    assertThat(result.code()).isEqualTo(79);
    assertThat(result.err()).contains("lock 'job' is lost");
  }

  @Test
  void sharersRunTogether_andPermitsAreCounted() {
    Call reader = tool.start("run", "-s", "book", "-c", "echo in; exec sleep 100");
    reader.firstLine();
    assertThat(tool.run("run", "-s", "-n", "book", "--", "true").code()).isZero();
    assertThat(tool.run("run", "-x", "-n", "book", "--", "true").code()).isEqualTo(75);
    reader.process.destroy();
    reader.await();

    Call two = tool.start("run", "--permits", "2/3", "desk", "-c", "echo in; exec sleep 100");
    two.firstLine();
    assertThat(tool.run("run", "--permits", "1/3", "-n", "desk", "--", "true").code()).isZero();
    assertThat(tool.run("run", "--permits=2/3", "-n", "desk", "--", "true").code()).isEqualTo(75);
    Result other = tool.run("run", "--permits", "1/5", "-n", "desk", "--", "true");
    assertThat(other.code()).isEqualTo(69);
    assertThat(other.err()).contains("semaphore of 3").contains("semaphore of 5");
    two.process.destroy();
    two.await();
  }

  @Test
  void atLeast_keepsTheNameClosedAfterAShortCommand() {
    long start = System.nanoTime();
    assertThat(tool.run("run", "cron", "--at-least", "8s", "--", "true").code()).isZero();
    Result second = tool.run("run", "cron", "-n", "--", "true");

    assertThat(second.code()).isEqualTo(75);
    Eventually.until(Tool.PATIENCE, "the name to open", () -> tool.isFree("cron"));
    assertThat(System.nanoTime() - start).isGreaterThan(8_000_000_000L);
  }

  @Test
  void severalNames_areHeldTogether() {
    Result result =
        tool.run(
            "run",
            "b",
            "a",
            "-c",
            "echo \"$FENCELINE_NAME\"; echo \"$FENCELINE_TOKEN\" | wc -l; "
                + Tool.LAUNCHER
                + " run -n a -- true; echo $?");

    assertThat(result.out().lines().map(String::strip)).containsExactly("b", "a", "2", "75");
    assertThat(tool.run("run", "-n", "a", "--", "true").code()).isZero();
  }

  @Test
  void aNameThatIsNotAscii_isTheSameInEveryLocale() {
    tool.environment.put("LC_ALL", "C");
    Result result =
        tool.run(
            "run",
            "\u5eab\u5b58",
            "-c",
            "echo $LC_ALL; LC_ALL=C.UTF-8 "
                + Tool.LAUNCHER
                + " run -n $FENCELINE_NAME -- true; echo $?; "
                + Tool.LAUNCHER
                + " run -n \u5eab\u5b59 -- true; echo $?");

    assertThat(result.out().lines()).containsExactly("C", "75", "0");
  }

  @Test
  void theUsersOwnVariables_reachTheCommandUnchanged() throws Exception {
    Path lib = Tool.DIST.resolve("lib");
    Map<String, String> variables = ScriptVariables.of(Tool.LAUNCHER, lib.resolve("guard.sh"));
    assertThat(variables).hasSizeGreaterThan(5);
    tool.environment.putAll(variables);

    String seen = tool.run("run", "job", "--", "env").out();

    assertThat(ScriptVariables.changed(variables, seen)).isEmpty();
    assertThat(ScriptVariables.leaked(seen)).isEmpty();
  }
}
