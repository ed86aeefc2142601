package io.fenceline.cli.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fenceline.cli.tool.Javas;
import io.fenceline.cli.tool.Servers;
import io.fenceline.cli.tool.Tool;
import io.fenceline.testbed.server.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** In the few variables that cron sets: it sends a mail for each line that a run prints. */
class CronIT {
  @TempDir Path folder;

  private void assertSilent(Path java, String store) throws Exception {
    Path printed = folder.resolve("printed");
    Process run =
        new ProcessBuilder(
                "env",
                "-i",
                "HOME=" + folder,
                "LOGNAME=" + System.getProperty("user.name"),
                "SHELL=/bin/sh",
                "PATH=/usr/bin:/bin",
                "JAVA_HOME=" + java,
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
    assertSilent(Javas.own(), store.uri(folder));
  }

  /** It warns of more: of native libraries, and of what drivers do with memory. */
  @ParameterizedTest
  @EnumSource
  void norDoesOneOnJava25(Servers store) throws Exception {
    Optional<Path> java = Javas.java25();
    assumeTrue(java.isPresent(), "no Java 25 on this machine");
    assertSilent(java.orElseThrow(), store.uri(folder));
  }

  @Test
  void norDoesOneOnRedlock() throws Exception {
    List<RedisServer> nodes = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        nodes.add(RedisServer.start());
      }
      List<String> addresses = nodes.stream().map(node -> node.host() + ":" + node.port()).toList();
      assertSilent(Javas.own(), "redlock://" + String.join(",", addresses));
    } finally {
      nodes.forEach(RedisServer::close);
    }
  }
}
