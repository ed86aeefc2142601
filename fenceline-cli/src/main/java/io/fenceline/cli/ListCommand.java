package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.options.OutputOptions;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.text.Message;
import io.fenceline.cli.text.Reports;
import io.fenceline.diagnosis.LockReport;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fenceline ls}: the locks that are held or waited for. */
@Command(name = "ls", description = "Lists the locks that are held or waited for.")
final class ListCommand implements Subcommand {
  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final OutputOptions output = new OutputOptions();

  @Parameters(arity = "0..1", paramLabel = "PREFIX", description = "Only names with this prefix.")
  private String prefix = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "How many names to list at most; default ${DEFAULT-VALUE}.")
  private int limit = 1000;

  @Override
  public int run() {
    if (limit < 1) {
      throw Failure.usage("--limit " + limit + ": it must be at least 1");
    }
    try (Fenceline fenceline = store.builder().connect()) {
      List<LockReport> found = fenceline.list(prefix, limit + 1);
      boolean complete = found.size() <= limit;
      List<LockReport> shown = complete ? found : found.subList(0, limit);
      if (output.isJson()) {
        OutputOptions.print(Reports.json(fenceline.store(), shown, complete));
        return ExitCode.OK;
      }
      if (shown.isEmpty()) {
        Message.print("no lock is held in " + fenceline.store());
      } else {
        OutputOptions.print(Reports.table(shown, Instant.now()));
      }
      if (!complete) {
        Message.print("there are more than " + limit + "; see --limit");
      }
    }
    return ExitCode.OK;
  }
}
