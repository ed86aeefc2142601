package io.fenceline.cli.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Servers;
import io.fenceline.cli.tool.Tool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a start costs is decided by what the archive of classes has, and not by a stopwatch. */
class StartIT {
  private static final double MOST_UNPREPARED = 0.03;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "REDIS"})
  void nearlyAllClassesOfARun_comeFromTheArchive(Servers store) throws Exception {
    Tool tool = new Tool(folder);
    tool.environment.put("FENCELINE_STORE", store.uri(folder));
    Path log = folder.resolve("classes");
    tool.environment.put("FENCELINE_JAVA_OPTS", "-Xlog:class+load:file=" + log);

    assertThat(tool.run("run", "job", "--", "true").code()).isZero();

    List<String> loaded =
        Files.readAllLines(log).stream().filter(l -> l.contains("source:")).toList();
    List<String> others = loaded.stream().filter(l -> !l.contains("shared objects file")).toList();
    assertThat(loaded).hasSizeGreaterThan(1000);
    assertThat(others).hasSizeLessThan((int) (loaded.size() * MOST_UNPREPARED));
  }
}
