package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.options.OutputOptions;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.text.Reports;
import io.fenceline.cli.text.Table;
import io.fenceline.diagnosis.LockReport;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code fenceline show}: one lock. */
@Command(name = "show", description = "Shows who holds a lock and who waits for it.")
final class ShowCommand implements Subcommand {
  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final OutputOptions output = new OutputOptions();

  @Parameters(paramLabel = "NAME", description = "The lock.")
  private String name = "";

  @Override
  public int run() {
    try (Fenceline fenceline = store.builder().connect()) {
      LockReport report = fenceline.inspect(name);
      if (output.isJson()) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("store", fenceline.store());
        json.put("lock", Reports.json(report));
        OutputOptions.print(json);
        return ExitCode.OK;
      }
      Instant now = Instant.now();
      if (report.isFree()) {
        System.out.println("'" + Table.harmless(name) + "' is free in " + fenceline.store());
      } else {
        OutputOptions.print(Reports.table(List.of(report), now));
      }
      if (!report.waiters().isEmpty()) {
        System.out.println();
        OutputOptions.print(Reports.waiters(report, now));
      }
    }
    return ExitCode.OK;
  }
}
