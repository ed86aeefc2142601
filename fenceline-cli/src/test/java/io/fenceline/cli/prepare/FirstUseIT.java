package io.fenceline.cli.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/** The tar.gz as somebody unpacks it: its first use makes what later ones start faster by. */
class FirstUseIT {
  // On disk: programs are run out of it, which a container may forbid in memory.
  @TempDir(factory = TempDirFactory.Standard.class)
  Path folder;

  @Test
  void theFirstUse_makesTheArchiveOfClasses_withoutAsking() throws Exception {
    Path archive;
    try (Stream<Path> files = Files.list(Tool.DIST.resolve(".."))) {
      archive = files.filter(file -> file.toString().endsWith(".tar.gz")).findFirst().orElseThrow();
    }
    Process tar =
        new ProcessBuilder("tar", "-xzf", archive.toAbsolutePath().normalize().toString())
            .directory(folder.toFile())
            .start();
    assertThat(tar.waitFor()).isZero();
    Path home;
    try (Stream<Path> files = Files.list(folder)) {
      home = files.filter(Files::isDirectory).findFirst().orElseThrow();
    }
    Path lib = home.resolve("lib");
    assertThat(lib.resolve("all.jsa")).doesNotExist();
    Tool tool = new Tool(Files.createDirectories(folder.resolve("work")));
    tool.launcher = home.resolve("bin/fenceline");

    assertThat(tool.run("run", "job", "--", "echo", "first"))
        .isEqualTo(new Result(0, "first\n", ""));
    Eventually.until(
        Tool.PATIENCE,
        "the archive to be there",
        () -> Files.exists(lib.resolve("all.jsa")) && !Files.exists(lib.resolve("preparing")));
    assertThat(tool.run("run", "job", "--", "echo", "second"))
        .isEqualTo(new Result(0, "second\n", ""));
  }
}
