package io.fenceline.cli.doctor;

import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.run.Programs;
import io.fenceline.diagnosis.Finding;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.StoreAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** What {@code fenceline run} needs of this machine. */
public final class Machine {
  private static final Set<PosixFilePermission> FOR_OTHERS =
      Set.of(PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ);

  private static final Set<PosixFilePermission> WRITABLE =
      Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

  private static final String SENT_AWAY =
      "Other users of this machine can redirect your locks to a store of theirs.";

  private static final int ROOT = 0;

  private Machine() {}

  /** Root may do everything anyway. */
  private static boolean isOfOthers(Path path) throws IOException {
    int owner = (Integer) Files.getAttribute(path, "unix:uid");
    int own = (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    return owner != own && owner != ROOT;
  }

  /** Looks at the programs, the folder for temporary files, and the config file. */
  public static List<Finding> findings(Map<String, String> environment, Path config) {
    List<Finding> findings = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String program : List.of("sh", "setsid", "sleep", "rm")) {
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
              "'fenceline run' can't create a folder for its guard process.",
              "Make it writable, or start with FENCELINE_JAVA_OPTS=-Djava.io.tmpdir=FOLDER."));
    } else {
      findings.add(
          Finding.ok(
              "machine",
              "sh, setsid and a writable folder for temporary files are available",
              "'fenceline run' can guard its commands."));
    }
    configFile(config, findings);
    return findings;
  }

  /** What an address does not show is a secret, or may be one. */
  private static boolean hasSecret(Path config) throws IOException {
    for (String line : Files.readAllLines(config)) {
      int equals = line.indexOf('=');
      if (equals >= 0 && line.substring(0, equals).strip().equals("store")) {
        try {
          StoreAddress address = StoreAddress.parse(line.substring(equals + 1).strip());
          if (!address.toString().equals(address.secretText())) {
            return true;
          }
        } catch (InvalidSettingException e) {
          return true;
        }
      }
    }
    return false;
  }

  private static void configFile(Path config, List<Finding> findings) {
    try {
      if (!Files.exists(config)) {
        return;
      }
      Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(config);
      Path folder = Objects.requireNonNull(config.toAbsolutePath().getParent());
      if (isOfOthers(config) || isOfOthers(folder)) {
        Path whose = isOfOthers(config) ? config : folder;
        findings.add(
            Finding.serious(
                "config file",
                whose + " belongs to " + Files.getOwner(whose).getName(),
                SENT_AWAY,
                "Take ownership of it: chown $(id -u) " + whose));
      } else if (WRITABLE.stream().anyMatch(permissions::contains)) {
        findings.add(
            Finding.serious(
                "config file",
                config + " can be changed: others may write it",
                SENT_AWAY,
                "chmod 600 " + config));
      } else if (WRITABLE.stream().anyMatch(Files.getPosixFilePermissions(folder)::contains)) {
        findings.add(
            Finding.serious(
                "config file",
                config + " can be replaced: others may write its folder",
                SENT_AWAY,
                "chmod 700 " + folder));
      } else if (FOR_OTHERS.stream().anyMatch(permissions::contains) && hasSecret(config)) {
        findings.add(
            Finding.serious(
                "config file",
                config + " has a password, and others may read it",
                "Other users of this machine can take and break your locks.",
                "chmod 600 " + config));
      } else {
        findings.add(Finding.ok("config file", config + " is read", "Its settings are used."));
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
