package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.cli.tool.Servers;
import io.fenceline.cli.tool.Tool;
import io.fenceline.cli.tool.Tool.Call;
import io.fenceline.cli.tool.Tool.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many runs of one name at once, as when a fleet's crontabs say the same minute. */
class CrowdIT {
  private static final int RUNS = Integer.getInteger("fenceline.cli.crowd", 12);

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "REDIS", "POSTGRESQL"})
  void runsThatWereToldToWait_neverFail_neverOverlap_andTheirTokensRise(Servers store)
      throws Exception {
    Tool tool = new Tool(folder);
    tool.environment.put("FENCELINE_STORE", store.uri(folder));
    long from = System.nanoTime();
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < RUNS; i++) {
      calls.add(
          tool.start(
              "run",
              "hot",
              "-w",
              "300",
              "-c",
              "echo start $FENCELINE_TOKEN >> log; sleep 0.02; echo end $FENCELINE_TOKEN >> log"));
    }
    List<Result> failed = new ArrayList<>();
    for (Call call : calls) {
      Result result = call.await(Duration.ofMinutes(6));
      // That a release was not confirmed may be said; it costs others a lease, and fails nobody.
      if (result.code() != 0) {
        failed.add(result);
      }
    }
    System.out.printf(
        "%s: %d runs in %.1f s, failed: %s%n",
        store, RUNS, (System.nanoTime() - from) / 1e9, failed);
    assertThat(failed).isEmpty();
    assertOneAfterAnother(Files.readAllLines(folder.resolve("log")), RUNS);
  }

  /** Lines of "start TOKEN" and "end TOKEN": never two starts in a row, and tokens that rise. */
  private static void assertOneAfterAnother(List<String> lines, int runs) {
    assertThat(lines).hasSize(2 * runs);
    long last = 0;
    for (int i = 0; i < lines.size(); i += 2) {
      assertThat(lines.get(i)).startsWith("start ");
      long token = Long.parseLong(lines.get(i).substring("start ".length()));
      assertThat(lines.get(i + 1)).isEqualTo("end " + token);
      assertThat(token).isGreaterThan(last);
      last = token;
    }
  }
}
