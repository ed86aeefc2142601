package io.fenceline.cli.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.ScriptVariables;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * The launcher of a clone: when it builds, and when not. The build itself is stood in for by a
 * script, since the real one takes a minute; what it builds is what all other tests start.
 */
class LauncherIT {
  // On disk: programs are run out of it, which a container may forbid in memory.
  @TempDir(factory = TempDirFactory.Standard.class)
  Path folder;

  private Path clone;
  private Path launcher;

  @BeforeEach
  void makeClone() throws Exception {
    clone = Files.createDirectories(folder.resolve("a clone"));
    launcher = clone.resolve("fenceline");
    Path root = Path.of(System.getProperty("fenceline.root"));
    Files.copy(root.resolve("fenceline"), launcher);
    executable(launcher);
    Files.writeString(clone.resolve("pom.xml"), "");
    Files.createDirectories(clone.resolve("fenceline-cli/src/main"));
    Files.writeString(clone.resolve("fenceline-cli/pom.xml"), "");
    Path maven = Files.createDirectories(folder.resolve("bin")).resolve("mvn");
    // Slow enough for others to come meanwhile.
    Files.writeString(
        maven,
        """
        #!/bin/sh
        echo built >> "$LOG"
        [ -z "$BREAK" ] || { echo '[ERROR] broken'; exit 1; }
        sleep 1
        echo '[INFO] Building Fenceline Core 0.1.0-SNAPSHOT          [2/5]'
        dist=$(dirname "$4")/fenceline-cli/target/dist/bin
        mkdir -p "$dist"
        printf '#!/bin/sh\\necho tool "$@"\\n' > "$dist/fenceline"
        chmod +x "$dist/fenceline"
        echo '[INFO] BUILD SUCCESS'
        """);
    executable(maven);
  }

  private static void executable(Path file) throws Exception {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private Process start(Path command, String... variables) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(command.toString(), "run", "a  b").directory(folder.toFile());
    builder.environment().put("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"));
    builder.environment().put("LOG", folder.resolve("log").toString());
    for (String variable : variables) {
      builder.environment().put(variable, "1");
    }
    return builder.start();
  }

  private String out(Process process) throws Exception {
    String out = new String(process.getInputStream().readAllBytes());
    process.waitFor();
    return out;
  }

  private long builds() throws Exception {
    return Files.readAllLines(folder.resolve("log")).size();
  }

  @Test
  void theFirstCallBuilds_withProgress_andTheNextDoesNot() throws Exception {
    Process first = start(launcher);
    assertThat(out(first)).isEqualTo("tool run a  b\n");
    assertThat(new String(first.getErrorStream().readAllBytes()))
        .contains("fenceline: building the tool")
        .contains("fenceline:   [2/5] Fenceline Core\n");

    Path link = Files.createSymbolicLink(folder.resolve("bin/fl"), Path.of("../a clone/fenceline"));
    Process second = start(link);
    assertThat(out(second)).isEqualTo("tool run a  b\n");
    assertThat(second.getErrorStream().readAllBytes()).isEmpty();
    assertThat(builds()).isEqualTo(1);
  }

  @Test
  void aRelativePath_isFound_whateverCdpathSays() throws Exception {
    Path elsewhere = Files.createDirectories(folder.resolve("elsewhere/a clone")).getParent();
    ProcessBuilder builder =
        new ProcessBuilder("env", "CDPATH=" + elsewhere, "a clone/fenceline", "run")
            .directory(folder.toFile());
    builder.environment().put("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"));
    builder.environment().put("LOG", folder.resolve("log").toString());

    assertThat(out(builder.start())).isEqualTo("tool run\n");
    assertThat(clone.resolve("fenceline-cli/target/dist/bin/fenceline")).exists();
  }

  @Test
  void aChangedSourceIsBuiltAnew() throws Exception {
    out(start(launcher));
    Path source = Files.writeString(clone.resolve("fenceline-cli/src/main/A.java"), "");
    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(5)));
    out(start(launcher));
    assertThat(builds()).isEqualTo(2);
  }

  @Test
  void callsAtTheSameTime_buildOnce() throws Exception {
    List<Process> calls = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      calls.add(start(launcher));
    }
    for (Process call : calls) {
      assertThat(out(call)).isEqualTo("tool run a  b\n");
    }
    assertThat(builds()).isEqualTo(1);
  }

  @Test
  void aBrokenBuild_isToldInShort_andTriedAgain() throws Exception {
    Process broken = start(launcher, "BREAK");
    assertThat(out(broken)).isEmpty();
    assertThat(broken.exitValue()).isEqualTo(71);
    assertThat(new String(broken.getErrorStream().readAllBytes()))
        .contains("[ERROR] broken")
        .contains("fenceline: the build failed");
    assertThat(out(start(launcher))).isEqualTo("tool run a  b\n");
  }

  @Test
  void theUsersOwnVariables_reachTheToolUnchanged() throws Exception {
    out(start(launcher));
    Path tool = clone.resolve("fenceline-cli/target/dist/bin/fenceline");
    Files.writeString(tool, "#!/bin/sh\nexec env\n");
    Map<String, String> variables = ScriptVariables.of(launcher);
    assertThat(variables).hasSizeGreaterThan(5);
    ProcessBuilder builder = new ProcessBuilder(launcher.toString());
    builder.environment().putAll(variables);

    String seen = out(builder.start());

    assertThat(ScriptVariables.changed(variables, seen)).isEmpty();
    assertThat(ScriptVariables.leaked(seen)).isEmpty();
  }
}
