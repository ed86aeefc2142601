package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mistakes: one line that says what is wrong and what to do, the right exit code, no trace. */
class BadInputIT {
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

  private void assertRefused(int code, String says, String... args) {
    Result result = tool.runInOneJvm(args);
    String what = String.join(" ", args) + " -> " + result;
    assertThat(result.code()).as(what).isEqualTo(code);
    assertThat(result.out()).as(what).isEmpty();
    assertThat(result.err().lines()).as(what).hasSize(1);
    assertThat(result.err()).as(what).startsWith("fenceline: ").contains(says);
    assertThat(result.err()).as(what).doesNotContain("hunter2").doesNotContain("\tat ");
  }

  @Test
  void wrongUsage() {
    assertRefused(64, "there is no command 'rnu'; there are run, hold, elect, once, ls", "rnu");
    assertRefused(64, "there is no command; write", "run", "job");
    assertRefused(64, "there is no command; write", "run", "job", "--");
    assertRefused(64, "there is no lock name", "run", "--", "true");
    assertRefused(64, "Unknown option: '--nope'", "run", "job", "--nope", "--", "true");
    assertRefused(64, "exclude each other", "run", "job", "-n", "-w", "1", "--", "true");
    assertRefused(64, "exclude each other", "run", "job", "-s", "-x", "--", "true");
    assertRefused(64, "exclude each other", "run", "job", "-s", "--permits", "1/2", "--", "true");
    assertRefused(64, "not both", "run", "job", "-c", "true", "--", "true");
    assertRefused(
        64, "is not a duration; write 10s", "run", "job", "--lease", "soon", "--", "true");
    assertRefused(64, "is not a duration", "run", "job", "-w", "1x", "--", "true");
    assertRefused(64, "lease", "run", "job", "--lease", "0", "--", "true");
    assertRefused(
        64, "less than half", "run", "job", "--lease", "4s", "--grace", "2s", "--", "true");
    assertRefused(64, "K from 1 to N", "run", "job", "--permits", "4/3", "--", "true");
    assertRefused(64, "one name", "run", "a", "b", "-s", "--", "true");
    assertRefused(64, "twice", "run", "a", "a", "--", "true");
    assertRefused(64, "from 0 to 255", "run", "a", "-E", "300", "--", "true");
    assertRefused(64, "it has a control character", "run", "a\nb", "--", "true");
    assertRefused(64, "it is too long", "run", "a".repeat(201), "--", "true");
    assertRefused(
        64, "'cry' is none of kill, term, warn", "run", "a", "--on-lost", "cry", "--", "true");
    assertRefused(64, "'tcsh' is none of bash, zsh, fish", "completion", "tcsh");
    assertRefused(64, "belongs to 'fenceline run'", "ls", "--", "true");
    assertRefused(64, "--yes", "release", "a", "--token", "1000000");
    assertRefused(64, "--token", "release", "a");
    assertRefused(64, "at least 1", "ls", "--limit", "0");
    assertRefused(64, "quote the whole line", "run", "job", "-c", "echo", "x", "y");
    assertRefused(64, "released when the command ends", "run", "-u", "job", "--", "true");
    assertRefused(64, "must keep running", "run", "-F", "job", "--", "true");
    assertRefused(64, "exclude each other", "run", "-q", "-v", "job", "--", "true");
    assertRefused(64, "exclude each other", "hold", "-n", "-w", "1", "job");
    assertRefused(64, "exclude each other", "hold", "-q", "-v", "job");
    assertRefused(64, "from 0 to 255", "hold", "-E", "300", "job");
    assertRefused(64, "with one of run, hold", "help", "rnu");
  }

  @Test
  void aRunThatWouldWaitForItself_isRefused() {
    Result result =
        tool.run("run", "job", "--", Tool.LAUNCHER.toString(), "run", "job", "--", "true");
    assertThat(result.code()).isEqualTo(64);
    assertThat(result.err()).contains("is held by the run around this one");
    String own = Tool.LAUNCHER.toString();
    assertThat(tool.run("run", "job", "--", own, "hold", "job").code()).isEqualTo(64);
    assertThat(tool.run("run", "job", "--", own, "run", "-n", "job", "--", "true").code())
        .isEqualTo(75);
    assertThat(tool.run("run", "job", "--", own, "run", "other", "--", "true").code()).isZero();
  }

  @Test
  void wrongStores() {
    assertRefused(64, "nosuch", "ls", "--store", "nosuch://u:hunter2@host/x?password=hunter2");
    assertRefused(64, "starts with a scheme", "ls", "--store", "hunter2@nonsense");
    assertRefused(64, "Unknown option", "--sotre=redis://:hunter2@host", "ls");
    assertRefused(64, "'redis://***'", "ls", "job", "redis://:hunter2@host");
    String rest = "x".repeat(200);
    String address = "redis://app:hunter2@host/" + rest;
    assertRefused(64, "lock name 'redis://", "show", address);
    assertRefused(64, "lock name 'redis://", "run", address, "--on-lost", "warn", "--", "true");
    assertRefused(64, "control character", "ls", "redis://:a\u0001hunter2@host");
    assertRefused(64, "redis://***", "run", "--lease=" + address, "a", "--", "true");
    assertRefused(64, "Unmatched argument", "ls", "job", "redis//:hunter2@host");
    assertRefused(64, "there is no command", "--store", "redis://:hunter2@host", "rnu");
    assertRefused(69, "127.0.0.1:1", "--store", "redis://:hunter2@127.0.0.1:1", "ls");
    assertRefused(69, "(store=redis://127.0.0.1:1)", "--store", "redis://127.0.0.1:1", "ls");
    assertRefused(69, "its folder can't be created", "ls", "--store", "sqlite:/proc/none/locks.db");
    assertRefused(69, "folder", "run", "a", "--store", "sqlite:/tmp", "--", "true");
  }

  @Test
  void aNameThatLooksLikeAFile_isAName_onBothWays() throws Exception {
    Path config = folder.resolve("home/.config/fenceline/config");
    Files.createDirectories(config.getParent());
    Files.writeString(config, "store = redis://:hunter2@cache\n");
    Path file = Files.writeString(folder.resolve("at.txt"), "job -c 'echo from-the-file'");

    assertThat(tool.run("show", "@" + config).out()).startsWith("'@" + config + "' is free");
    for (String[] more : new String[][] {{}, {"--on-lost", "warn"}}) {
      List<String> args = new ArrayList<>(List.of("run", "@" + file));
      args.addAll(List.of(more));
      args.addAll(List.of("-c", "echo \"$FENCELINE_NAME\""));
      assertThat(tool.run(args.toArray(String[]::new)).out()).isEqualTo("@" + file + "\n");
    }
    assertRefused(64, "@" + config, "--version", "@" + config);
  }

  @Test
  void commandsThatCannotRun_doSoBeforeALockIsTaken() throws Exception {
    Path text = Files.writeString(folder.resolve("text"), "#!/bin/sh\n");
    Files.setPosixFilePermissions(text, PosixFilePermissions.fromString("rw-r--r--"));

    assertRefused(127, "was not found on the PATH", "run", "a", "--", "no-such-command");
    assertRefused(127, "no such file", "run", "a", "--", "./no-such-command");
    assertRefused(126, "chmod +x", "run", "a", "--", text.toString());
    assertRefused(126, "it is a folder", "run", "a", "--", folder.toString());
    assertThat(folder.resolve("locks.db")).doesNotExist();
  }

  @Test
  void configFiles() throws Exception {
    Path config = folder.resolve("home/.config/fenceline/config");
    Files.createDirectories(config.getParent());
    Files.writeString(config, "store = sqlite:" + folder.resolve("other.db") + "\n\npwd hunter2\n");
    assertRefused(64, "config, line 3: write key = value", "run", "a", "--", "true");

    Files.writeString(config, "# locks\nstore = sqlite:" + folder.resolve("other.db") + "\n");
    tool.environment.remove("FENCELINE_STORE");
    tool.environment.put("FENCELINE_STORE", "");
    assertThat(tool.run("run", "a", "-c", "echo $FENCELINE_STORE").out())
        .isEqualTo("sqlite:" + folder.resolve("other.db") + "\n");
    assertThat(folder.resolve("other.db")).exists();
  }

  @Test
  void debugShowsTheTrace() {
    Result result = tool.run("ls", "--debug", "--store", "sqlite:/proc/none/locks.db");
    assertThat(result.err()).contains("\tat io.fenceline");
  }

  @Test
  void helpIsThereForAll() {
    for (String name : Subcommands.NAMES) {
      Result result = tool.runInOneJvm(name, "--help");
      assertThat(result.code()).as(name).isZero();
      assertThat(result.out()).as(name).contains("fenceline " + name).contains("--help");
    }
    assertThat(tool.runInOneJvm("--help").out())
        .contains("run")
        .contains("doctor")
        .containsPattern("completion +Prints a completion script for a shell\\.\\R");
    assertThat(tool.run("--version").out()).startsWith("fenceline 0.");
    assertThat(tool.runInOneJvm().code()).isEqualTo(64);
  }
}
