package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.options.OutputOptions;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.run.Signals;
import io.fenceline.cli.run.Terminal;
import io.fenceline.cli.text.Json;
import io.fenceline.cli.text.Message;
import io.fenceline.cli.text.Reports;
import io.fenceline.cli.text.Table;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fenceline watch}: the locks, live. */
@Command(
    name = "watch",
    description = {
      "Shows the locks live, until Ctrl-C: in a terminal it redraws the list, as top does; otherwise it"
          + " prints a line for each change. With --json, it prints a line of JSON for each refresh."
    })
final class WatchCommand implements Subcommand {
  private static final int MOST = 1000;
  private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(100);
  private static final String CLEAR = "\u001b[H\u001b[2J";

  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final OutputOptions output = new OutputOptions();

  @Parameters(arity = "0..1", paramLabel = "PREFIX", description = "Only names with this prefix.")
  private String prefix = "";

  @Option(
      names = {"-i", "--interval"},
      paramLabel = "TIME",
      description = "Time between refreshes; default 1s.")
  private Duration interval = Duration.ofSeconds(1);

  @Option(names = "--count", paramLabel = "N", description = "Exit after N refreshes.")
  private long count = Long.MAX_VALUE;

  private final CountDownLatch stop = new CountDownLatch(1);
  private Map<String, String> before = new LinkedHashMap<>();

  @Override
  public int run() throws InterruptedException {
    if (interval.compareTo(SHORTEST_INTERVAL) < 0) {
      throw Failure.usage("--interval " + Durations.show(interval) + ": at least 100ms");
    }
    Signals.listen(
        signal -> {
          if (!signal.equals("CONT")) {
            stop.countDown();
          }
        });
    try (Fenceline fenceline = store.builder().connect()) {
      for (long looks = 0; looks < count; looks++) {
        if (looks > 0 && stop.await(interval.toMillis(), TimeUnit.MILLISECONDS)) {
          break;
        }
        look(fenceline);
      }
    }
    return ExitCode.OK;
  }

  private void look(Fenceline fenceline) {
    List<LockReport> reports;
    try {
      reports = fenceline.list(prefix, MOST);
    } catch (StoreUnavailableException | StoreRefusedException e) {
      // Watching is what one does while a store is down.
      Message.print(String.valueOf(e.getMessage()));
      return;
    }
    if (output.isJson()) {
      Map<String, Object> json = Reports.json(fenceline.store(), reports, reports.size() < MOST);
      json.put("at", Instant.now().toString());
      System.out.println(Json.line(json));
    } else if (Terminal.onStdout()) {
      redraw(fenceline, reports);
    } else {
      printChanges(reports);
    }
    System.out.flush();
  }

  private void redraw(Fenceline fenceline, List<LockReport> reports) {
    Instant now = Instant.now();
    int waiters = reports.stream().mapToInt(report -> report.waiters().size()).sum();
    StringBuilder screen = new StringBuilder(CLEAR);
    screen.append(
        "%s   %d locks, %d waiters   %s   (Ctrl-C ends)%n%n"
            .formatted(
                fenceline.store(), reports.size(), waiters, now.truncatedTo(ChronoUnit.SECONDS)));
    Reports.table(reports, now).lines().forEach(line -> screen.append(line).append('\n'));
    System.out.print(screen);
  }

  private void printChanges(List<LockReport> reports) {
    Map<String, String> after = new LinkedHashMap<>();
    for (LockReport report : reports) {
      after.put(report.name(), describe(report));
    }
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    after.forEach(
        (name, state) -> {
          if (!state.equals(before.get(name))) {
            System.out.println(now + " " + Table.harmless(name) + " " + state);
          }
        });
    before.keySet().stream()
        .filter(name -> !after.containsKey(name))
        .forEach(name -> System.out.println(now + " " + Table.harmless(name) + " free"));
    before = after;
  }

  private static String describe(LockReport report) {
    List<String> holders = new ArrayList<>();
    for (LockReport.Holder holder : report.holders()) {
      holders.add(
          Table.harmless(holder.label())
              + " ("
              + holder.mode()
              + ", token "
              + holder.token()
              + ")");
    }
    String held = holders.isEmpty() ? "free" : "held by " + String.join(", ", holders);
    return report.waiters().isEmpty() ? held : held + ", " + report.waiters().size() + " waiting";
  }
}
