package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What other users of the machine, or of the store, can do to the tool. */
class OtherUsersIT {
  @TempDir Path folder;
  private Tool tool;

  @BeforeEach
  void start() {
    tool = new Tool(folder);
  }

  @AfterEach
  void stop() {
    tool.close();
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private static void chmod(Path file, String mode) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void theEmbeddedStore_isForItsUserAlone() throws Exception {
    Path file = folder.resolve("state/deep/locks.db");
    tool.environment.put("FENCELINE_STORE", "sqlite:" + file);
    Result result =
        tool.run("run", "job", "-c", "stat -c '%a %n' state state/deep state/deep/locks.db*");

    assertThat(result.out().lines())
        .contains("700 state", "700 state/deep", "600 state/deep/locks.db")
        .allMatch(line -> line.matches("[76]00 .*"));
    assertThat(tool.runInOneJvm("doctor").out()).contains("ok       file permissions");
  }

  @Test
  void doctorTells_ofAFileThatWasMadeBefore() throws Exception {
    Path file = folder.resolve("locks.db");
    assertThat(tool.run("run", "job", "--", "true").code()).isZero();
    chmod(file, "rw-r--r--");

    Result result = tool.runInOneJvm("doctor");
    assertThat(result.out())
        .contains("SERIOUS  file permissions: " + file + " is rw-r--r--")
        .contains("chmod 600 " + file);
    assertThat(result.code()).isEqualTo(1);
    assertThat(mode(file)).as("it is not changed behind its owner's back").isEqualTo("rw-r--r--");
  }

  @Test
  void doctorTells_ofWhatLiesBesideTheFile_ofItsFolder_andOfOtherOwners() throws Exception {
    Path own = Files.createDirectory(folder.resolve("own"));
    Path file = own.resolve("locks.db");
    tool.environment.put("FENCELINE_STORE", "sqlite:" + file);
    assertThat(tool.run("run", "job", "--", "true").code()).isZero();
    Path shared = own.resolve("locks.db-shm");
    String doctor = "chmod 644 " + shared + "; " + Tool.LAUNCHER + " doctor";
    assertThat(tool.run("run", "job", "-c", doctor).out())
        .contains("SERIOUS  file permissions: " + shared);
    chmod(own, "rwxrwxrwx");
    assertThat(tool.runInOneJvm("doctor").out())
        .contains("SERIOUS  file permissions: " + own + " is rwxrwxrwx")
        .contains("chmod 700 " + own);
    chmod(own, "rwx------");
    assertThat(tool.runInOneJvm("doctor").out()).contains("ok       file permissions");

    Path config = folder.resolve("home/.config/fenceline/config");
    Files.createDirectories(config.getParent());
    Files.writeString(config, "lease = 10s\n");
    chmod(config, "rw-------");
    chmod(config.getParent(), "rwxrwxr-x");
    assertThat(tool.runInOneJvm("doctor").out())
        .contains("SERIOUS  config file")
        .contains("chmod 700 " + config.getParent());
    chmod(config.getParent(), "rwx------");
    assertThat(tool.runInOneJvm("doctor").out()).contains("ok       config file");
    if (isRoot()) {
      Files.setAttribute(config, "unix:uid", 65_534);
      Files.setAttribute(file, "unix:uid", 65_534);
      assertThat(tool.runInOneJvm("doctor").out())
          .contains("SERIOUS  config file: " + config + " belongs to")
          .contains("SERIOUS  file permissions: " + file + " belongs to");
    }
  }

  @Test
  void doctorTells_ofAConfigFileWithAnyPassword() throws Exception {
    Path config = folder.resolve("home/.config/fenceline/config");
    Files.createDirectories(config.getParent());
    for (String store :
        new String[] {
          "redis-sentinel://127.0.0.1:1?master=m&sentinelPassword=hunter2",
          "redis-sentinel://127.0.0.1:1?master=m&sentinelP%61ssword=hunter2",
          "redis://:hunter2@127.0.0.1:1",
          "jdbc:mariadb://127.0.0.1:1/x?user=a&PASSWORD=hunter2",
        }) {
      Files.writeString(config, "store = " + store + "\n");
      chmod(config, "rw-r--r--");
      Result result = tool.runInOneJvm("doctor");
      assertThat(result.out())
          .as(store)
          .contains("SERIOUS  config file")
          .contains("chmod 600 " + config)
          .doesNotContain("hunter2");
    }
    Files.writeString(config, "lease = 10s\n");
    assertThat(tool.runInOneJvm("doctor").out()).contains("ok       config file");
    chmod(config, "rw-rw-rw-");
    assertThat(tool.runInOneJvm("doctor").out())
        .contains("SERIOUS  config file")
        .contains("may write it");
  }

  @Test
  void aLabelInTheStore_doesNotSteerTheTerminal() throws Exception {
    String evil = "\u001b]0;owned\u0007\u001b[2J\nfenceline: all is well\u009b31m\u202e";
    Call holder = tool.start("run", "job", "-c", "echo go; exec sleep 100");
    holder.firstLine();
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locks.db"));
        Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA busy_timeout = 20000");
      statement.execute("UPDATE fenceline_locks SET client = '1@evil\u001b[1mhost " + evil + "'");
    }
    for (String[] args :
        new String[][] {
          {"run", "job", "-n", "--", "true"},
          {"run", "job", "-w", "0.3", "--", "true"},
          {"show", "job"},
          {"show", "job", "--json"},
          {"ls"},
          {"watch", "--count", "1"},
          {"watch", "--count", "1", "--json"},
          {"release", "job", "--token", "256", "--yes"},
        }) {
      Result result = tool.runInOneJvm(args);
      String seen = result.out() + result.err();
      assertThat(seen.chars().filter(c -> c != '\n'))
          .as(String.join(" ", args) + " -> " + seen)
          .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT);
      assertThat(seen.lines()).noneMatch(line -> line.startsWith("fenceline: all is well"));
    }
    holder.process.destroy();
    holder.await();
  }

  @Test
  void theMarkOfARun_isNotForOthersToSee() throws Exception {
    Call call = tool.start("run", "job", "-c", "echo $FENCELINE_RUN; exec sleep 1000");
    String mark = call.firstLine().strip();
    assertThat(mark).hasSizeGreaterThan(28);
    assertThat(ProcessHandle.allProcesses().map(p -> Tool.commandLine(p.pid())))
        .noneMatch(line -> line.contains(mark));
    call.signal("TERM");
    assertThat(call.await().code()).isEqualTo(143);
  }

  @Test
  void whoKnowsTheMark_canNotKeepTheRunOfAnotherUserFromEnding() throws Exception {
    assumeTrue(isRoot(), "only root can become another user");
    Call call = tool.start("run", "job", "-c", "echo $FENCELINE_RUN; exec sleep 1000");
    String mark = call.firstLine().strip();
    Process stranger =
        new ProcessBuilder(
                "setpriv",
                "--reuid=65534",
                "--clear-groups",
                "setsid",
                "env",
                "FENCELINE_WATCHES=" + mark,
                "sleep",
                "1000")
            .start();
    try {
      Eventually.until(
          Tool.PATIENCE,
          "the stranger",
          () -> Tool.commandLine(stranger.pid()).equals("sleep 1000"));
      call.signal("TERM");
      assertThat(call.process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      stranger.destroyForcibly();
    }
    assertThat(call.await().code()).isEqualTo(143);
  }

  /** As sudo does it: a process of root, which the user can neither see nor kill. */
  @Test
  void whereProcHidesAProcessOfRoot_theLockIsKeptUntilItHasEnded() throws Exception {
    assumeTrue(isRoot(), "only root can become another user");
    Path open = Files.createTempDirectory("fenceline-hidden-"); // Where set-user-ID is allowed.
    chmod(open, "rwxrwxrwx");
    try {
      Path sudo = Files.copy(Path.of("/usr/bin/setpriv"), open.resolve("sudo"));
      assertThat(new ProcessBuilder("chmod", "4755", sudo.toString()).start().waitFor()).isZero();
      List<String> asNobody =
          List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups");
      List<String> line = new ArrayList<>(List.of("unshare", "-m", "sh", "-c"));
      line.add("mount -t proc -o hidepid=2 proc /proc && exec \"$@\"");
      line.add("sh");
      line.addAll(asNobody);
      List<String> probe = new ArrayList<>(line);
      probe.addAll(List.of("test", "-x", Tool.LAUNCHER.toString(), "-a", "-u", sudo.toString()));
      assumeTrue(
          new ProcessBuilder(probe).start().waitFor() == 0,
          "it needs mounts, and a way to the tool");
      line.add(Tool.LAUNCHER.toString());
      line.addAll(List.of("run", "job", "--grace", "1s", "--", "timeout", "1000"));
      line.addAll(List.of(sudo.toString(), "--reuid=0", "--regid=0", "--clear-groups"));
      line.addAll(List.of("sh", "-c", "echo $$ >" + open + "/pid; exec sleep 1000"));
      Path err = folder.resolve("err");
      ProcessBuilder builder =
          new ProcessBuilder(line)
              .redirectInput(Path.of("/dev/null").toFile())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(err.toFile());
      String store = "sqlite:" + open.resolve("locks.db");
      builder.environment().putAll(Map.of("HOME", open.toString(), "FENCELINE_STORE", store));
      Process first = builder.start();
      long hidden =
          Long.parseLong(
              Eventually.until(
                      Tool.PATIENCE,
                      "the command",
                      () ->
                          Files.exists(open.resolve("pid"))
                              ? Files.readString(open.resolve("pid"))
                              : "",
                      text -> text.endsWith("\n"))
                  .strip());
      try {
        Tool.signal("TERM", first.pid());
        Eventually.until(
            Tool.PATIENCE,
            "the tool to tell, or to end",
            () -> !first.isAlive() || Files.readString(err).contains("can't be killed"));
        assertThat(first.isAlive()).as(Files.readString(err)).isTrue();
        assertThat(Tool.lives(hidden)).isTrue();
      } finally {
        Tool.signal("KILL", hidden);
      }
      assertThat(first.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      try (var all = Files.walk(open)) {
        for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  private boolean isRoot() throws IOException {
    return Integer.valueOf(0).equals(Files.getAttribute(folder, "unix:uid"));
  }
}
