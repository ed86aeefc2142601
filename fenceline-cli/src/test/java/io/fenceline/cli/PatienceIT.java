package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testbed.server.RedisServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store that does not answer for a while: whoever was told to wait waits for that, too. */
class PatienceIT {
  @TempDir Path folder;
  private Tool tool;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  /**
   * Starts a run that waits, and has two fail that were not told to, and try for longer: the second
   * one starts when the first attempt of the one that waits is about over.
   */
  private Call waiting(String says) {
    Call patient =
        tool.start("run", "job", "-w", "200", "--connect-timeout", "1s", "-c", "echo in");
    for (int i = 0; i < 2; i++) {
      Result impatient = tool.run("run", "job", "--connect-timeout", "4s", "--", "true");
      assertThat(impatient.code()).as(impatient.toString()).isEqualTo(69);
      assertThat(impatient.err()).contains(says);
    }
    assertThat(patient.process.isAlive()).isTrue();
    return patient;
  }

  @Test
  void aFileThatSomebodyElseWrites_isWaitedFor() throws Exception {
    tool.run("run", "job", "--", "true");
    Call patient;
    try (Connection blocker =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locks.db"));
        Statement statement = blocker.createStatement()) {
      statement.execute("PRAGMA busy_timeout = 60000");
      statement.execute("BEGIN EXCLUSIVE");
      patient = waiting("SQLITE_BUSY");
    }
    assertThat(patient.await()).isEqualTo(new Result(0, "in\n", ""));
  }

  @Test
  void aServerThatIsDown_isWaitedFor() throws Exception {
    try (RedisServer redis = RedisServer.start()) {
      tool.environment.put("FENCELINE_STORE", redis.uri());
      redis.kill();
      Call patient = waiting(redis.host() + ":" + redis.port());
      redis.restart();
      assertThat(patient.await()).isEqualTo(new Result(0, "in\n", ""));
    }
  }
}
