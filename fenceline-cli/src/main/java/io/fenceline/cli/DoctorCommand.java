package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.cli.doctor.Examination;
import io.fenceline.cli.doctor.Machine;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.options.OutputOptions;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.text.Table;
import io.fenceline.diagnosis.Finding;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code fenceline doctor}: looks over the store and this machine. */
@Command(
    name = "doctor",
    description = {
      "Checks the store (reachable, permissions, settings, clock, latency) and this machine.",
      "Each finding says what it means and what to do."
    },
    footer = {
      "",
      "Exit codes: 0 no problem found; 1 problems found, or store unreachable; 64 wrong usage."
    })
final class DoctorCommand implements Subcommand {
  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final OutputOptions output = new OutputOptions();

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      description = "The lease that your locks use; default 30s.")
  private Duration lease = Duration.ofSeconds(30);

  @Override
  public int run() throws InterruptedException {
    List<Finding> findings = new ArrayList<>();
    String description = store.address().toString();
    long start = System.nanoTime();
    try (Fenceline fenceline = store.builder().connect()) {
      description = fenceline.store();
      findings.add(
          Finding.ok(
              "reachable",
              "connected in " + Durations.show(Duration.ofNanos(System.nanoTime() - start)),
              "The store at "
                  + description
                  + " answers; its address is from "
                  + store.source()
                  + "."));
      findings.addAll(new Examination(fenceline, lease).findings());
    } catch (StoreUnavailableException | StoreRefusedException e) {
      findings.add(
          Finding.serious(
              "reachable",
              String.valueOf(e.getMessage()),
              "No lock can be acquired or released. The address comes from " + store.source() + ".",
              "Check the address, that the server runs, that this machine may reach it, and the"
                  + " user and password."));
    }
    findings.addAll(Machine.findings(System.getenv(), store.config().file()));
    boolean serious = findings.stream().anyMatch(f -> f.severity() == Finding.Severity.SERIOUS);
    if (output.isJson()) {
      print(description, findings, serious);
    } else {
      print(findings, serious);
    }
    return serious ? ExitCode.NO : ExitCode.OK;
  }

  /** What the server has said is in it. */
  static void print(List<Finding> findings, boolean serious) {
    for (Finding finding : findings) {
      System.out.printf(
          "%-8s %s: %s%n",
          label(finding.severity()),
          Table.harmless(finding.check()),
          Table.harmless(finding.found()));
      System.out.println("         " + Table.harmless(finding.meaning()));
      if (!finding.advice().isEmpty()) {
        System.out.println("         To do: " + Table.harmless(finding.advice()));
      }
    }
    long notes = findings.stream().filter(f -> f.severity() == Finding.Severity.NOTE).count();
    System.out.println();
    System.out.println(
        serious
            ? "Problems found: see SERIOUS above."
            : "No problems found; " + notes + (notes == 1 ? " note." : " notes."));
  }

  private static String label(Finding.Severity severity) {
    return switch (severity) {
      case OK -> "ok";
      case NOTE -> "note";
      case SERIOUS -> "SERIOUS";
    };
  }

  private static void print(String description, List<Finding> findings, boolean serious) {
    List<Map<String, Object>> each = new ArrayList<>();
    for (Finding finding : findings) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("check", finding.check());
      json.put("severity", finding.severity().name().toLowerCase(Locale.ROOT));
      json.put("found", finding.found());
      json.put("meaning", finding.meaning());
      json.put("advice", finding.advice());
      each.add(json);
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("store", description);
    json.put("serious", serious);
    json.put("findings", each);
    OutputOptions.print(json);
  }
}
