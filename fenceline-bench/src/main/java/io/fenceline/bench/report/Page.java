package io.fenceline.bench.report;

import io.fenceline.bench.work.Effort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The page of a run: {@code benchmarks.md}, and beside it a folder with plots and figures. */
public final class Page {
  private static final String FLEET =
      """
      In *fleet*, the threads of one process pass Fenceline's lock among themselves for up to 10 ms without asking the
      server; the other locks ask it in each cycle. This is why a figure there can be far above that of *spread*. The columns
      *hand-over* show how long it takes to pass the lock from one process to another, through the server.

      """;

  private static final String FOLDER = "benchmarks";

  private final Effort effort;
  private final Machine machine;
  private final String day = LocalDate.now(ZoneOffset.UTC).toString();

  /** Of a run that begins now. */
  public Page(Effort effort, Machine machine) {
    this.effort = effort;
    this.machine = machine;
  }

  /** Writes it all into a folder. */
  public void write(Path folder, List<StoreReport> reports) throws IOException {
    Path more = Files.createDirectories(folder.resolve(FOLDER));
    Plot handOffs =
        new Plot("Hand-over at the store, by number of waiting claims", "claims that wait", "µs");
    Plot renewals = new Plot("CPU time of a renewal, by number of names held", "names held", "µs");
    Plot cycles = new Plot("Cycle of one more lock, by number of live names", "live names", "µs");
    for (StoreReport report : reports) {
      cycles.add(
          report.store(),
          report.names().stream()
              .map(p -> new Plot.Point(p.live(), 1e6 / p.cyclesPerSecond()))
              .toList());
      handOffs.add(
          report.store(),
          report.waiters().stream()
              .map(p -> new Plot.Point(p.waiting(), p.handOffMicros()))
              .toList());
      renewals.add(
          report.store(),
          report.holds().stream()
              .map(p -> new Plot.Point(p.held(), p.clientMicros() + p.serverMicros()))
              .toList());
    }
    StringBuilder plots = new StringBuilder();
    plot(more.resolve("hand-offs.svg"), handOffs, plots);
    plot(more.resolve("renewals.svg"), renewals, plots);
    plot(more.resolve("names.svg"), cycles, plots);
    Files.writeString(
        more.resolve("figures.json"),
        Json.of(Figures.of(effort.label(), day, machine, reports)) + "\n");
    Path page = folder.resolve("benchmarks.md");
    String older = Files.exists(page) ? Files.readString(page) : "";
    Files.writeString(page, Parts.keep(older, text(reports, plots.toString())));
  }

  /**
   * Adds a section to the page that is there, with figures in a file of their own.
   *
   * @param command what has been run, to be repeated
   */
  public void add(Path folder, String command, List<StoreReport> reports) throws IOException {
    Path more = Files.createDirectories(folder.resolve(FOLDER));
    String figures = Parts.fileOf(command);
    Files.writeString(
        more.resolve(figures), Json.of(Figures.of(effort.label(), day, machine, reports)) + "\n");
    StringBuilder section = new StringBuilder();
    section
        .append("\n## On their own: ")
        .append(reports.stream().map(StoreReport::store).collect(Collectors.joining(", ")))
        .append("\n\n")
        .append(warning())
        .append(
            "Measured by `%s`, separately from the figures above. Figures as JSON: "
                .formatted(command))
        .append("[%s/%s](%1$s/%2$s).\n\n".formatted(FOLDER, figures));
    ground(section);
    Table goals = Goal.table(reports);
    if (!goals.isEmpty()) {
      section.append("\n").append(goals.markdown());
    }
    for (StoreReport report : reports) {
      section.append("\n### ").append(report.store()).append(", on its own\n\n");
      measured(report, section);
    }
    Path page = folder.resolve("benchmarks.md");
    Files.writeString(page, Parts.add(Files.readString(page), command, section.toString()));
  }

  private static void plot(Path file, Plot plot, StringBuilder links) throws IOException {
    if (!plot.isEmpty()) {
      Files.writeString(file, plot.svg());
      links.append("![](%s/%s)\n\n".formatted(FOLDER, file.getFileName()));
    }
  }

  private String text(List<StoreReport> reports, String plots) {
    StringBuilder page = new StringBuilder("# Benchmarks\n\n");
    page.append(warning());
    page.append(MethodText.INTRODUCTION);
    page.append("\n## Goals\n\n").append(FLEET).append(Goal.table(reports).markdown());
    page.append("\n## Where and with what\n\n");
    ground(page);
    page.append("\n").append(MethodText.METHOD);
    for (StoreReport report : reports) {
      page.append("\n## ").append(report.store()).append("\n\n");
      measured(report, page);
    }
    if (!plots.isEmpty()) {
      page.append("\n## Growth\n\nAll curves should be flat.\n\n").append(plots);
    }
    return page.toString();
  }

  /** Where it ran, when, and with what. */
  private void ground(StringBuilder text) {
    text.append("- ").append(machine.hardware()).append("; ").append(machine.system());
    text.append(
        String.format(
            Locale.ROOT, "; load average before the run %.1f; %s\n", machine.loadBefore(), day));
    text.append("- ")
        .append(
            Machine.versions().entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(", ")))
        .append("\n");
  }

  private static void measured(StoreReport report, StringBuilder text) {
    text.append(report.description()).append(".\n");
    report.tables().forEach(table -> text.append("\n").append(table.markdown()));
    if (!report.leftOut().isEmpty()) {
      text.append("\nLeft out:\n\n");
      report.leftOut().forEach(what -> text.append("- ").append(what).append("\n"));
    }
  }

  private String warning() {
    // Of the effort, the label counts: which processes take turns makes no figure less reliable.
    if (effort.label().equals(Effort.FULL.label()) && machine.loadBefore() < 1) {
      return "";
    }
    return String.format(
        Locale.ROOT,
        "> **Not for comparison:** this page comes from a run with `%s` effort, on a machine with a"
            + " load average of %.1f before it began. It shows only that everything runs. For reliable"
            + " figures, run `./bench` on an otherwise idle machine.\n\n",
        effort.label(),
        machine.loadBefore());
  }
}
