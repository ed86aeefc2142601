package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Result;
import io.fenceline.testbed.server.NeedsValkey;
import io.fenceline.testbed.server.RedisKind;
import io.fenceline.testbed.server.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The README's first command, against Valkey. */
@NeedsValkey
class ValkeyIT {
  private static final String SCRIPT = "echo \"token $FENCELINE_TOKEN\"";

  @TempDir Path folder;

  @Test
  void firstLineOfTheReadme_worksWithValkey() throws Exception {
    assertThat(Files.readString(Path.of("../README.md")))
        .contains("$ ./fenceline run nightly-report -- sh -c '" + SCRIPT + "'");
    try (RedisServer valkey = RedisServer.builder().kind(RedisKind.VALKEY).start()) {
      Tool tool = new Tool(folder);
      tool.environment.put("FENCELINE_STORE", valkey.uri());
      Result result = tool.run("run", "nightly-report", "--", "sh", "-c", SCRIPT);
      assertThat(result.out()).as(result.err()).matches("token [0-9]+\\n");
      assertThat(tool.run("doctor").out()).contains(" is valkey 8.");
      assertThat(tool.run("stores").out()).contains("valkey://", "jdbc:mysql://");
      assertThat(tool.run("once", "invoice", "--", "echo", "sent").line()).isEqualTo("sent");
      assertThat(tool.run("once", "invoice", "--", "echo", "sent").line()).isEqualTo("sent");
    }
  }
}
