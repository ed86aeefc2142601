package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;
import io.fenceline.testbed.process.TempFolder;
import io.fenceline.testbed.process.Tool;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A data folder as mariadb-install-db leaves it, made once in this JVM and copied. */
final class MariaDbTemplate {

  private static @Nullable Path made;

  private MariaDbTemplate() {}

  static synchronized void copyTo(Path target) {
    Path template = made;
    if (template == null) {
      template = make();
      made = template;
    }
    Tool.run("cp", "-a", "--reflink=auto", template.toString(), target.toString());
  }

  private static Path make() {
    TempFolder folder = TempFolder.create("mariadb-template"); // deleted when this JVM ends
    Path data = folder.path().resolve("data");
    try {
      Tool.run(
          Debian.program("mariadb-install-db", "mariadb-server"),
          "--no-defaults",
          "--user=" + System.getProperty("user.name"),
          "--auth-root-authentication-method=normal",
          "--skip-test-db",
          "--innodb-log-file-size=" + InnoDbServer.LOG_SIZE,
          "--datadir=" + data);
      return data;
    } catch (RuntimeException | Error e) {
      folder.close();
      throw e;
    }
  }
}
