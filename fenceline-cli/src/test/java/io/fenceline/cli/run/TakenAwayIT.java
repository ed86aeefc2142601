package io.fenceline.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.cli.tool.Servers;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A lock that another has released by force, as {@code fenceline release} does. */
@Execution(ExecutionMode.CONCURRENT)
class TakenAwayIT {
  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource
  void theHolderIsToldThatTheGrantIsGone_andNotThatItsTimeIsOver(Servers store) {
    Tool tool = new Tool(folder);
    tool.environment.put("FENCELINE_STORE", store.uri(folder));
    Call call =
        tool.start(
            "run",
            "job",
            "--connect-timeout",
            "60s",
            "--lease",
            "6s",
            "-c",
            "echo $FENCELINE_TOKEN $$; exec sleep 1000");
    String[] printed = call.firstLine().strip().split(" ");
    long token = Long.parseLong(printed[0]);
    try (Fenceline another = tool.client()) {
      assertThat(another.forceRelease("job", token)).isTrue();
    }

    Result result = call.await();

    assertThat(result.code()).as(result.toString()).isEqualTo(79);
    assertThat(result.err())
        .containsPattern(
            "lock 'job' is lost: the store no longer knows the grant, last renewed \\S+( \\S+)? ago on"
                + " a lease of \\S+( \\S+)? \\(token="
                + token
                + "\\); the command is killed")
        .hasLineCount(1);
    assertThat(Tool.lives(Long.parseLong(printed[1]))).isFalse();
  }
}
