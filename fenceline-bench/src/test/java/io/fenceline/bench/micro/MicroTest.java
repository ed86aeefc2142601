package io.fenceline.bench.micro;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;

/** That the benchmark still runs, with all its figures; what they are does not matter. */
class MicroTest {
  @Test
  void acquireAndRelease_hasTimeCpuTimeAndBytes_withoutAndWithMeters() throws Exception {
    Collection<RunResult> results =
        Micro.run("-f", "0", "-wi", "0", "-i", "1", "-r", "50ms", "-v", "SILENT");

    assertThat(results)
        .extracting(result -> result.getParams().getParam("meters"))
        .containsExactlyInAnyOrder("NONE", "PROMETHEUS");
    for (RunResult result : results) {
      assertThat(result.getPrimaryResult().getScore()).isPositive();
      assertThat(result.getSecondaryResults()).containsKeys("gc.alloc.rate.norm", "cpu.time.norm");
      assertThat(result.getSecondaryResults().get("gc.alloc.rate.norm").getScore()).isPositive();
      assertThat(result.getSecondaryResults().get("cpu.time.norm").getScore()).isPositive();
    }
  }
}
