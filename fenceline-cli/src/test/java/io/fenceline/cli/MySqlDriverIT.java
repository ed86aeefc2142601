package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tool does not ship MySQL's driver: it says how to add it, and finds it there. */
@NeedsMySql
class MySqlDriverIT {
  @TempDir Path folder;

  @Test
  void driver_isAskedFor_andFoundInItsPlace() throws Exception {
    try (MySqlServer server = MySqlServer.start()) {
      Tool tool = new Tool(folder);
      tool.environment.put(
          "FENCELINE_STORE",
          "%s?user=%s&password=%s&allowPublicKeyRetrieval=true"
              .formatted(server.jdbcUrl(), server.user(), server.password()));
      Result without = tool.run("run", "job", "--", "true");
      assertThat(without.code()).isNotZero();
      assertThat(without.err())
          .contains("No JDBC driver on the class path accepts this URL")
          .contains("lib/mysql-connector-j.jar")
          .doesNotContain(server.password());

      Path home = folder.resolve("installed");
      Process copy =
          new ProcessBuilder("cp", "-a", Tool.DIST.toAbsolutePath().toString(), home.toString())
              .start();
      assertThat(copy.waitFor()).isZero();
      Path driver =
          Path.of(
              Class.forName("com.mysql.cj.jdbc.Driver")
                  .getProtectionDomain()
                  .getCodeSource()
                  .getLocation()
                  .toURI());
      Files.copy(driver, home.resolve("lib/mysql-connector-j.jar"));
      tool.launcher = home.resolve("bin/fenceline");

      Result with = tool.run("run", "job", "--", "sh", "-c", "echo $FENCELINE_TOKEN");
      assertThat(with.out()).as(with.err()).matches("[0-9]+\\n");
      assertThat(tool.run("doctor").out()).contains("MySQL 8.0.12");
    }
  }
}
