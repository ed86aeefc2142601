package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tool on a server: passwords, and a server that goes away. */
class RedisIT {
  @TempDir Path folder;

  @Test
  void aPassword_isNeitherPrintedNorPassedOn_andTheConfigFileHasItForANestedRun() throws Exception {
    try (RedisServer redis = RedisServer.builder().password("hunter2").start()) {
      Tool tool = new Tool(folder);
      tool.environment.put("FENCELINE_STORE", redis.uri());
      Result result = tool.run("run", "job", "-c", "env | grep FENCELINE_");
      assertThat(result.code()).as(result.toString()).isZero();
      assertThat(result.out())
          .contains("FENCELINE_STORE=" + redis.uri().replaceAll("//.*@", "//"))
          .doesNotContain("hunter2");

      String wrong = redis.uri().replace("hunter2", "hunter3");
      Result refused = tool.run("run", "job", "--store", wrong, "--", "true");
      assertThat(refused.code()).as(refused.toString()).isEqualTo(69);
      assertThat(refused.err().lines()).hasSize(1);
      assertThat(refused.err())
          .doesNotContain("hunter")
          .contains("does not accept the user or the password");

      Path config = folder.resolve("home/.config/fenceline/config");
      Files.createDirectories(config.getParent());
      Files.writeString(config, "store = " + redis.uri() + "\n");
      tool.environment.put("FENCELINE_STORE", "");
      Result nested =
          tool.run("run", "outer", "-c", Tool.LAUNCHER + " run inner -c 'echo in $FENCELINE_NAME'");
      assertThat(nested.out()).as(nested.toString()).isEqualTo("in inner\n");
      assertThat(tool.run("doctor").out()).contains("chmod 600").doesNotContain("hunter2");
    }
  }

  @Test
  void whileACommandRuns_noProcessButTheToolShowsThePassword() throws Exception {
    try (RedisServer redis = RedisServer.builder().password("hunter2").start()) {
      Tool tool = new Tool(folder);
      tool.environment.put("FENCELINE_STORE", redis.uri());
      Call call = tool.start("run", "job", "--debug", "-c", "env; echo go; exec sleep 1000");
      String environment =
          Eventually.until(
              Tool.PATIENCE, "the command", call::out, text -> text.contains("\ngo\n"));
      assertThat(environment).contains("FENCELINE_STORE=redis://").doesNotContain("hunter2");
      List<Long> showing =
          ProcessHandle.allProcesses()
              .map(ProcessHandle::pid)
              .filter(pid -> Tool.environment(pid).contains(folder.toString()))
              .filter(pid -> (Tool.environment(pid) + Tool.commandLine(pid)).contains("hunter2"))
              .toList();
      assertThat(showing).containsExactly(call.process.pid());
      assertThat(Tool.commandLine(call.process.pid())).doesNotContain("hunter2");
      call.signal("TERM");
      Result result = call.await();
      assertThat(result.code()).isEqualTo(143);
      assertThat(result.err()).contains("DEBUG").doesNotContain("hunter2");
    }
  }

  @Test
  void anAddressThatCanNotBeHadWithoutItsSecret_isNotHandedOnInPart() throws Exception {
    try (RedisServer redis = RedisServer.start()) {
      Tool tool = new Tool(folder);
      String address = redis.uri() + "?sentinelPassword=hunter2&wait=0";
      String inner = Tool.LAUNCHER + " run inner -c 'echo in $FENCELINE_NAME'";
      tool.environment.put("FENCELINE_STORE", address);
      Result refused = tool.run("run", "outer", "-c", inner);
      assertThat(refused.code()).as(refused.toString()).isEqualTo(64);
      assertThat(refused.err()).contains("put the password last").doesNotContain("hunter2");

      Path config = folder.resolve("home/.config/fenceline/config");
      Files.createDirectories(config.getParent());
      Files.writeString(config, "store = " + address + "\n");
      tool.environment.put("FENCELINE_STORE", "");
      Result nested = tool.run("run", "outer", "-c", inner);
      assertThat(nested.out()).as(nested.toString()).isEqualTo("in inner\n");
    }
  }

  @Test
  void aServerThatGoesAway_endsTheCommandInTime_andCannotBeReachedAfterwards() throws Exception {
    try (RedisServer redis = RedisServer.start()) {
      Tool tool = new Tool(folder);
      tool.environment.put("FENCELINE_STORE", redis.uri());
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
      redis.kill();

      Result result = call.await();
      assertThat(result.code()).as(result.toString()).isEqualTo(79);
      assertThat(result.out()).isEqualTo(pid + "\nTERM\n");
      assertThat(result.err()).contains("lock 'job' is in danger");
      Eventually.until(Tool.PATIENCE, "the command to end", () -> !Tool.lives(pid));
      Result down = tool.run("run", "job", "--", "true");
      assertThat(down.code()).as(down.toString()).isEqualTo(69);
      assertThat(down.err().lines()).hasSize(1);
    }
  }
}
