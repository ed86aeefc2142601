package io.fenceline.cli.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Servers;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code fenceline once}, with real processes. */
class OnceIT {
  @TempDir Path folder;
  private Tool tool;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  private List<String> effects() throws Exception {
    Path file = folder.resolve("effects");
    return Files.exists(file) ? Files.readAllLines(file) : List.of();
  }

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "POSTGRESQL", "MARIADB", "REDIS"})
  void secondCall_printsAndExitsAsTheFirst_withoutRunningAnything(Servers store) throws Exception {
    tool.environment.put("FENCELINE_STORE", store.uri(folder));
    String[] call = {
      "once",
      "order-" + System.nanoTime(),
      "-c",
      "echo $FENCELINE_KEY $FENCELINE_TOKEN; echo careful >&2; echo done; echo x >>effects; exit 3"
    };

    Result first = tool.run(call);
    Result second = tool.run(call);

    assertThat(first.code()).as(first.toString()).isEqualTo(3);
    assertThat(first.out()).matches("order-[0-9]+ [0-9]+\ndone\n");
    assertThat(first.err()).isEqualTo("careful\n");
    assertThat(second).isEqualTo(first);
    assertThat(effects()).hasSize(1);

    Result other = tool.run("once", call[1], "--", "echo", "other");
    assertThat(other.code()).isEqualTo(65);
    assertThat(other.err()).contains("was used for another request before");
  }

  @Test
  void callsAtTheSameTime_waitForTheOneThatWorks_orAreToldSo() throws Exception {
    String line = "echo in; while [ ! -e go ]; do sleep 0.05; done; echo x >>effects; echo out";
    Call first = tool.start("once", "job", "-c", line);
    first.firstLine();
    Result now = tool.run("once", "-n", "job", "-c", line);
    assertThat(now.code()).isEqualTo(75);
    assertThat(now.err()).contains("Key 'job' is being worked on by another caller");
    List<Call> waiting = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiting.add(tool.start("once", "job", "-c", line));
    }
    Files.createFile(folder.resolve("go"));

    assertThat(first.await()).isEqualTo(new Result(0, "in\nout\n", ""));
    for (Call each : waiting) {
      assertThat(each.await()).isEqualTo(new Result(0, "in\nout\n", ""));
    }
    assertThat(effects()).hasSize(1);
  }

  @Test
  void aSignal_isNoResult_andLeavesTheKeyInDoubt_untilItIsSettled() throws Exception {
    String line = "echo $FENCELINE_TOKEN; echo x >>effects; exec sleep 1000";
    Call first = tool.start("once", "pay", "-c", line);
    String token = first.firstLine().strip();
    first.signal("TERM");
    assertThat(first.await().code()).isEqualTo(143);

    Result refused = tool.run("once", "pay", "-c", line);
    assertThat(refused.code()).as(refused.toString()).isEqualTo(80);
    assertThat(refused.err()).contains("has a worker that vanished", "--settle 'pay'");
    Result shown = tool.run("once", "--settle", "pay");
    assertThat(shown.out()).startsWith("key 'pay' is begun, and not finished (token=" + token);
    assertThat(tool.run("once", "--settle", "pay", "--done", "0", "--token", "5").code()).isOne();
    assertThat(tool.run("once", "--settle", "pay", "--done", "4").code()).isZero();
    assertThat(tool.run("once", "pay", "-c", line)).isEqualTo(new Result(4, "", ""));
    assertThat(effects()).hasSize(1);
  }

  @Test
  void aKeyThatIsSettledAsNotDone_isRunByTheNextCall() throws Exception {
    String line = "echo x >>effects; [ -e again ] || kill -KILL $$; echo done";
    assertThat(tool.run("once", "pay", "-c", line).code()).isEqualTo(137);
    assertThat(tool.run("once", "pay", "-c", line).code()).isEqualTo(80);

    Result settled = tool.run("once", "--settle", "pay", "--again");
    assertThat(settled).isEqualTo(new Result(0, "settled key 'pay': the next call runs it\n", ""));
    Result unknown = tool.run("once", "--settle", "pay");
    assertThat(unknown.code()).as(unknown.toString()).isOne();
    assertThat(unknown.err()).contains("key 'pay' is not known");
    Files.createFile(folder.resolve("again"));
    assertThat(tool.run("once", "pay", "-c", line)).isEqualTo(new Result(0, "done\n", ""));
    assertThat(effects()).hasSize(2);
    // What is done can't be settled, whatever is said of it.
    assertThat(tool.run("once", "--settle", "pay", "--again").code()).isOne();
    assertThat(tool.run("once", "pay", "-c", line)).isEqualTo(new Result(0, "done\n", ""));
  }

  @Test
  void aToolThatIsKilled_leavesItsKeyInDoubt_orToBeRunAgain() throws Exception {
    String line = "echo $$ >pid; echo in; echo x >>effects; [ -e again ] || exec sleep 1000";
    Call first = tool.start("once", "pay", "--lease", "3s", "-c", line);
    first.firstLine();
    long pid = Long.parseLong(Files.readString(folder.resolve("pid")).strip());
    first.process.destroyForcibly().waitFor();
    Eventually.until(Tool.PATIENCE, "the command to end", () -> !Tool.lives(pid));
    Files.createFile(folder.resolve("again"));

    assertThat(tool.run("once", "pay", "--lease", "3s", "-c", line).code()).isEqualTo(80);
    Result rerun = tool.run("once", "pay", "--lease", "3s", "--in-doubt", "rerun", "-c", line);
    assertThat(rerun).isEqualTo(new Result(0, "in\n", ""));
    assertThat(tool.run("once", "pay", "-c", line)).isEqualTo(rerun);
    assertThat(effects()).hasSize(2);
  }

  @Test
  void successOnly_runsAgainAfterAFailure() throws Exception {
    String line = "echo x >>effects; [ $(wc -l <effects) -gt 1 ]";
    String[] call = {"once", "--success-only", "job", "-c", line};
    assertThat(tool.run(call).code()).isOne();
    assertThat(tool.run(call).code()).isZero();
    assertThat(tool.run(call).code()).isZero();
    assertThat(effects()).hasSize(2);
  }

  @Test
  void outputAboveTheLimit_isPassedOn_cut_andSaid() {
    String[] call = {"once", "--output-limit", "1000", "job", "-c", "seq 1 1000"};
    Result first = tool.run(call);
    assertThat(first.code()).isZero();
    assertThat(first.out().lines()).hasSize(1000);
    assertThat(first.err()).contains("(bytes=3893, kept=995, limit=1000); later calls print");
    Result second = tool.run(call);
    assertThat(second.out()).hasSize(995).isEqualTo(first.out().substring(0, 995));
    assertThat(second.err()).contains("this is its beginning");
  }

  @Test
  void aStoreThatCanKeepNoRecords_isRefused() {
    Result result = tool.run("once", "job", "--store", "memory:", "--", "true");
    assertThat(result.code()).isEqualTo(64);
    assertThat(result.err()).contains("--records URI");
    assertThat(tool.run("once", "job", "--done", "1", "--", "true").code()).isEqualTo(64);
    assertThat(tool.run("once", "", "--", "true").code()).isEqualTo(64);
  }

  @Test
  void whatIsWaitedFor_endsWithASignal_andLeavesNothing() throws Exception {
    Call first = tool.start("once", "job", "-c", "echo in; exec sleep 1000");
    first.firstLine();
    Call waiting = tool.start("once", "job", "-c", "echo in; exec sleep 1000");
    Eventually.until(Tool.PATIENCE, "the second one to wait", () -> tool.waiters("") == 1);
    waiting.signal("TERM");
    assertThat(waiting.await().code()).isEqualTo(143);
    first.signal("TERM");
    assertThat(first.await().code()).isEqualTo(143);
  }
}
