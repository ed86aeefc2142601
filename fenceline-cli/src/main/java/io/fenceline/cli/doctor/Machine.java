package io.fenceline.cli.doctor;

import io.fenceline.Finding;
import io.fenceline.cli.Failure;
import io.fenceline.cli.run.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What {@code fenceline run} needs of this machine. */
public final class Machine {
  private static final Set<PosixFilePermission> FOR_OTHERS =
      Set.of(PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ);

  private Machine() {}

  /** Looks at the programs, the folder for temporary files, and the config file. */
  public static List<Finding> findings(Map<String, String> environment, Path config) {
    List<Finding> findings = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String program : List.of("sh", "setsid", "mkfifo")) {
      try {
        Programs.check(program, environment);
      } catch (Failure e) {
        missing.add(program);
      }
    }
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    if (!missing.isEmpty()) {
      findings.add(
          Finding.serious(
              "machine",
              "not on the PATH: " + String.join(", ", missing),
              "'fenceline run' can't start its guard process, and runs nothing.",
              "Install util-linux and coreutils."));
    } else if (!Files.isWritable(temporary)) {
      findings.add(
          Finding.serious(
              "machine",
              "the folder for temporary files, " + temporary + ", is not writable",
              "'fenceline run' can't make the pipe to its guard process.",
              "Make it writable, or start with FENCELINE_JAVA_OPTS=-Djava.io.tmpdir=FOLDER."));
    } else {
      findings.add(
          Finding.ok(
              "machine",
              "sh, setsid, mkfifo and a folder for temporary files are there",
              "'fenceline run' can guard its commands."));
    }
    configFile(config, findings);
    return findings;
  }

  private static void configFile(Path config, List<Finding> findings) {
    try {
      if (!Files.exists(config)) {
        return;
      }
      Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(config);
      boolean open = FOR_OTHERS.stream().anyMatch(permissions::contains);
      if (open && Files.readString(config).matches("(?s).*(://[^/\\s]*:[^/\\s]*@|password=).*")) {
        findings.add(
            Finding.serious(
                "config file",
                config + " has a password, and others may read it",
                "Other users of this machine can take and break your locks.",
                "chmod 600 " + config));
      } else {
        findings.add(Finding.ok("config file", config + " is read", "Its settings count."));
      }
    } catch (IOException e) {
      findings.add(
          Finding.note(
              "config file",
              config + " could not be looked at: " + e.getMessage(),
              "Its permissions are unknown.",
              "Check who may read it."));
    }
  }
}
