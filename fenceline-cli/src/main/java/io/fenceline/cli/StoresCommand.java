package io.fenceline.cli;

import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.options.OutputOptions;
import io.fenceline.cli.text.Table;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.settings.Durations;
import io.fenceline.spi.StoreKind;
import io.fenceline.spi.StoreProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code fenceline stores}: what can be chosen, and what each choice promises. */
@Command(
    name = "stores",
    description = "Lists the stores, their URIs, and what each guarantees; connects to none.")
final class StoresCommand implements Subcommand {
  @Mixin private final OutputOptions output = new OutputOptions();

  @Override
  public int run() {
    List<StoreKind> kinds = new ArrayList<>();
    TreeSet<String> others = new TreeSet<>();
    for (StoreProvider provider : ServiceLoader.load(StoreProvider.class)) {
      kinds.addAll(provider.kinds());
      if (provider.kinds().isEmpty()) {
        others.addAll(provider.schemes());
      }
    }
    if (output.isJson()) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("stores", kinds.stream().map(StoresCommand::json).toList());
      json.put("undescribedSchemes", others);
      OutputOptions.print(json);
      return ExitCode.OK;
    }
    OutputOptions.print(table(kinds));
    for (StoreKind kind : kinds) {
      explain(kind);
    }
    if (!others.isEmpty()) {
      System.out.println();
      System.out.println("Also there, but not described: " + String.join(", ", others));
    }
    return ExitCode.OK;
  }

  private static Table table(List<StoreKind> kinds) {
    Table table =
        new Table("STORE", "CLASS", "DURABLE", "FAIR", "DELAY", "MIN LEASE", "LATENCY", "URI");
    for (StoreKind kind : kinds) {
      Guarantees guarantees = kind.guarantees();
      table.row(
          guarantees.store(),
          kind.consistency().toString(),
          durable(guarantees),
          guarantees.gives(Guarantee.FAIR) ? "yes" : "no",
          guarantees.gives(Guarantee.LOCK_DELAY) ? "yes" : "no",
          Durations.show(guarantees.leases().shortest()),
          kind.latency(),
          String.join(" ", kind.addresses()));
    }
    return table;
  }

  /** Nobody has connected: what depends on a server's settings can't be known yet. */
  private static String durable(Guarantees guarantees) {
    return switch (guarantees.durable()) {
      case YES -> "yes";
      case NO -> "no";
      case UNKNOWN -> "if set";
    };
  }

  private static void explain(StoreKind kind) {
    Guarantees guarantees = kind.guarantees();
    System.out.println();
    System.out.println(guarantees.store());
    System.out.println(
        "  class        " + kind.consistency() + ": " + kind.consistency().meaning());
    System.out.println("  crash        " + guarantees.onCrash());
    System.out.println("  failover     " + guarantees.onFailover());
    System.out.println("  clock jump   " + guarantees.onClockJump());
    System.out.println("  wiped        " + guarantees.onWipe());
    String missing =
        String.join(
            ", ",
            Arrays.stream(Guarantee.values())
                .filter(guarantee -> !guarantees.gives(guarantee))
                .filter(
                    guarantee ->
                        guarantee != Guarantee.DURABLE || guarantees.durable() == Certainty.NO)
                .map(Guarantee::toString)
                .toList());
    System.out.println("  not given    " + (missing.isEmpty() ? "-" : missing));
  }

  private static Map<String, Object> json(StoreKind kind) {
    Guarantees guarantees = kind.guarantees();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("store", guarantees.store());
    json.put("addresses", kind.addresses());
    json.put("consistency", kind.consistency().toString());
    json.put("latency", kind.latency());
    json.put("guarantees", new TreeSet<>(guarantees.given()).stream().map(Enum::name).toList());
    json.put("durable", guarantees.durable().name().toLowerCase(Locale.ROOT));
    json.put("shortestLeaseMillis", guarantees.leases().shortest().toMillis());
    json.put("longestLeaseMillis", guarantees.leases().longest().toMillis());
    json.put("onCrash", guarantees.onCrash());
    json.put("onFailover", guarantees.onFailover());
    json.put("onClockJump", guarantees.onClockJump());
    json.put("onWipe", guarantees.onWipe());
    return json;
  }
}
