package io.fenceline.cli.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/** The Debian package: installed by dpkg into a folder, used, and removed. */
@Tag("long")
class DebIT {
  // On disk: programs are run out of it, which a container may forbid in memory.
  @TempDir(factory = TempDirFactory.Standard.class)
  Path folder;

  private String dpkg(String... args) throws Exception {
    Path root = Files.createDirectories(folder.resolve("root"));
    Path admin = Files.createDirectories(folder.resolve("admin"));
    for (String each : List.of("info", "updates", "triggers")) {
      Files.createDirectories(admin.resolve(each));
    }
    if (!Files.exists(admin.resolve("status"))) {
      Files.createFile(admin.resolve("status"));
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                "dpkg",
                "--root=" + root,
                "--admindir=" + admin,
                "--force-script-chrootless",
                "--force-not-root",
                "--force-depends",
                "--log=" + folder.resolve("log")));
    command.addAll(List.of(args));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("PATH", System.getenv("PATH") + ":/usr/sbin:/sbin");
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }

  private List<Path> installed() throws Exception {
    try (Stream<Path> all = Files.walk(folder.resolve("root"))) {
      return all.filter(path -> !Files.isDirectory(path)).toList();
    }
  }

  @Test
  void itIsInstalled_startsFast_runs_andLeavesNothingBehind() throws Exception {
    Path deb;
    try (Stream<Path> files = Files.list(Tool.DIST.resolve(".."))) {
      deb = files.filter(file -> file.toString().endsWith(".deb")).findFirst().orElseThrow();
    }
    dpkg("--install", deb.toString());
    Path root = folder.resolve("root");
    Path lib = root.resolve("usr/share/fenceline/lib");
    for (String archive : List.of("sqlite.jsa", "redis.jsa", "all.jsa")) {
      assertThat(lib.resolve(archive)).exists();
    }
    assertThat(lib.resolve("native/libsqlitejdbc.so")).exists();
    assertThat(root.resolve("usr/share/man/man1/fenceline.1.gz")).exists();
    Tool tool = new Tool(Files.createDirectories(folder.resolve("work")));
    tool.launcher = root.resolve("usr/bin/fenceline");
    assertThat(tool.run("run", "job", "--", "echo", "under lock"))
        .isEqualTo(new Result(0, "under lock\n", ""));

    dpkg("--purge", "fenceline");
    assertThat(installed()).isEmpty();
  }
}
