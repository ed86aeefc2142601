package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code fenceline elect}, with real processes, on the embedded store. */
class ElectIT {
  @TempDir Path folder;
  private Tool tool;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  @Test
  void oneLeads_theNextFollows_andTermsRise() throws Exception {
    String line = "echo $FENCELINE_NAME $FENCELINE_TOKEN; exec sleep 1000";
    Call first = tool.start("elect", "boss", "-c", line);
    String[] one = first.firstLine().strip().split(" ");
    assertThat(one[0]).isEqualTo("boss");
    Result now = tool.run("elect", "-n", "boss", "-c", line);
    assertThat(now.code()).as(now.toString()).isEqualTo(75);
    assertThat(now.err()).contains("'boss' is led by ", "(term=");
    assertThat(tool.run("elect", "-w", "0.3", "-q", "-E", "9", "boss", "-c", line))
        .isEqualTo(new Result(9, "", ""));
    Call second = tool.start("elect", "boss", "-c", line);
    first.signal("TERM");
    assertThat(first.await().code()).isEqualTo(143);

    String[] two = second.firstLine().strip().split(" ");
    assertThat(Long.parseLong(two[1])).isGreaterThan(Long.parseLong(one[1]));
    second.signal("INT");
    assertThat(second.await().code()).isEqualTo(130);
  }

  @Test
  void theCommandsExitCode_passes_andOthersAreLetInAtOnce() {
    assertThat(tool.run("elect", "boss", "-c", "exit 7").code()).isEqualTo(7);
    assertThat(tool.run("elect", "-n", "boss", "--", "true").code()).isZero();
  }

  @Test
  void aLostLeadership_endsTheCommand_andTheToolWith79_orItStandsAgain() throws Exception {
    Call ends = tool.start("elect", "boss", "--lease", "3s", "-c", "echo $$; exec sleep 1000");
    long pid = Long.parseLong(ends.firstLine().strip());
    release("boss");
    Result result = ends.await();
    assertThat(result.code()).as(result.toString()).isEqualTo(79);
    // The renewal says so, or, where it is not answered before, the end of the lease.
    assertThat(result.err()).containsPattern("the leadership of 'boss' (is|was) lost");
    assertThat(Tool.lives(pid)).isFalse();

    Call stands =
        tool.start(
            "elect",
            "boss",
            "--lease",
            "3s",
            "--restart",
            "lost",
            "-c",
            "echo $FENCELINE_TOKEN >>terms; [ $(wc -l <terms) -gt 1 ] || exec sleep 1000");
    Eventually.until(Tool.PATIENCE, "its first term", () -> Files.exists(folder.resolve("terms")));
    release("boss");
    assertThat(stands.await().code()).isZero();
    var terms = Files.readAllLines(folder.resolve("terms")).stream().map(Long::valueOf).toList();
    assertThat(terms).hasSize(2).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void aToolThatIsKilled_takesItsCommandAlong_andTheNextOneLeads() throws Exception {
    String line = "echo $$ $FENCELINE_TOKEN; exec sleep 1000";
    Call first = tool.start("elect", "boss", "--lease", "10s", "-c", line);
    String[] one = first.firstLine().strip().split(" ");
    Call second = tool.start("elect", "boss", "--lease", "10s", "-c", line);
    Eventually.until(Tool.PATIENCE, "the second one to wait", () -> tool.waiters("") == 1);
    first.process.destroyForcibly().waitFor();

    String[] two = second.firstLine().strip().split(" ");
    assertThat(Tool.lives(Long.parseLong(one[0]))).as("the first one's command").isFalse();
    assertThat(Long.parseLong(two[1])).isGreaterThan(Long.parseLong(one[1]));
    second.signal("TERM");
    assertThat(second.await().code()).isEqualTo(143);
  }

  private void release(String name) {
    try (Fenceline client = tool.client()) {
      long token = client.inspect(name).holders().get(0).token();
      assertThat(client.forceRelease(name, token)).isTrue();
    }
  }

  @Test
  void restartAlways_runsTheCommandAgain_afterItHasEnded() throws Exception {
    Call call = tool.start("elect", "boss", "--restart", "always", "-c", "echo x >>runs; exit 0");
    Eventually.until(
        Tool.PATIENCE,
        "two runs",
        () ->
            Files.exists(folder.resolve("runs"))
                && Files.readAllLines(folder.resolve("runs")).size() >= 2);
    call.signal("TERM");
    assertThat(call.await().code()).isIn(143, 0);
  }

  @Test
  void longestTerm_asksTheCommandToEnd_soThatOthersGetTheirTurn() throws Exception {
    String line = "echo $FENCELINE_TOKEN; exec sleep 1000";
    Call first = tool.start("elect", "boss", "--longest-term", "1s", "-c", line);
    first.firstLine();
    Call second = tool.start("elect", "boss", "-c", line);
    second.firstLine();
    second.signal("TERM");
    second.await();
    first.signal("TERM");
    assertThat(first.await().code()).isEqualTo(143);
  }
}
