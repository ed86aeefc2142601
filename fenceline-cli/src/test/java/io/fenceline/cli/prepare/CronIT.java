package io.fenceline.cli.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Servers;
import io.fenceline.cli.tool.Tool;
import io.fenceline.testbed.server.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** In the few variables that cron sets: it sends a mail for each line that a run prints. */
class CronIT {
  @TempDir Path folder;

  private void assertSilent(String store) throws Exception {
    Path printed = folder.resolve("printed");
    Process run =
        new ProcessBuilder(
                "env",
                "-i",
                "HOME=" + folder,
                "LOGNAME=" + System.getProperty("user.name"),
                "SHELL=/bin/sh",
                "PATH=/usr/bin:/bin",
                "JAVA_HOME=" + System.getProperty("java.home"),
                Tool.LAUNCHER.toString(),
                "run",
                "nightly",
                "--store",
                store,
                "--connect-timeout=60s",
                "--lease=5s",
                "--",
                "true")
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(printed.toFile())
            .redirectErrorStream(true)
            .start();
    assertThat(run.waitFor(Tool.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(Files.readString(printed)).isEmpty();
    assertThat(run.exitValue()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aRunThatSucceeds_printsNothing(Servers store) throws Exception {
    assertSilent(store.uri(folder));
  }

  @Test
  void norDoesOneOnRedlock() throws Exception {
    List<RedisServer> nodes = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        nodes.add(RedisServer.start());
      }
      List<String> addresses = nodes.stream().map(node -> node.host() + ":" + node.port()).toList();
      assertSilent("redlock://" + String.join(",", addresses));
    } finally {
      nodes.forEach(RedisServer::close);
    }
  }
}
