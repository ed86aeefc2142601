package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.options.OutputOptions;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.run.Terminal;
import io.fenceline.cli.text.Table;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.settings.Durations;
import io.fenceline.spi.TokenFormat;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fenceline release}: takes a lock away from whoever holds it. */
@Command(
    name = "release",
    description = {
      "Takes a lock away from its holder, if the lock is still held with this token.",
      "The holder finds out at its next renewal. Until then, only a guarded resource that refuses"
          + " its token, once it has seen a larger one, keeps it from writing."
    },
    footer = {
      "",
      "Exit codes: 0 released; 1 the lock is no longer held with that token, or you answered no."
    })
final class ReleaseCommand implements Subcommand {
  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final OutputOptions output = new OutputOptions();

  @Parameters(paramLabel = "NAME", description = "The lock.")
  private String name = "";

  @Option(
      names = "--token",
      required = true,
      paramLabel = "T",
      description = "The token of the holder, as 'fenceline show' prints it.")
  private long token;

  @Option(
      names = {"-y", "--yes"},
      description = "Don't ask.")
  private boolean yes;

  @Override
  public int run() {
    if (!yes && !Terminal.onStdin()) {
      throw Failure.usage("there is no terminal to ask at; give --yes to release without asking");
    }
    try (Fenceline fenceline = store.builder().connect()) {
      LockReport report = fenceline.inspect(name);
      Optional<LockReport.Holder> holder =
          report.holders().stream().filter(h -> isGrantOf(h.token())).findFirst();
      if (holder.isEmpty()) {
        return tell(fenceline, holder, false, nobody(report));
      }
      String who = describe(holder.get());
      if (!yes && !confirmed(who)) {
        return tell(fenceline, holder, false, "nothing was released");
      }
      boolean released = fenceline.forceRelease(name, token);
      return tell(
          fenceline,
          holder,
          released,
          released
              ? "released '" + name + "', which was held by " + who
              : "'" + name + "' was released by its holder meanwhile");
    }
  }

  private boolean isGrantOf(long shown) {
    return TokenFormat.grantNumber(shown) == TokenFormat.grantNumber(token);
  }

  private String nobody(LockReport report) {
    String now =
        report.isFree() ? "it is free" : "it is held with token " + report.holders().get(0).token();
    return "token " + token + " does not hold '" + name + "': " + now;
  }

  private static String describe(LockReport.Holder holder) {
    return Table.harmless(
        "%s (host=%s, pid=%d, mode=%s, token=%d, left=%s)"
            .formatted(
                holder.label(),
                holder.host(),
                holder.pid(),
                holder.mode(),
                holder.token(),
                Durations.show(holder.remaining())));
  }

  private boolean confirmed(String who) {
    System.err.print("'" + name + "' is held by " + who + ". Take it away? [y/N] ");
    System.err.flush();
    try {
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      String answer = in.readLine();
      return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
    } catch (IOException e) {
      return false;
    }
  }

  private int tell(
      Fenceline fenceline, Optional<LockReport.Holder> holder, boolean released, String message) {
    if (output.isJson()) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("store", fenceline.store());
      json.put("name", name);
      json.put("token", String.valueOf(token));
      json.put("released", released);
      holder.ifPresent(h -> json.put("holder", h.label()));
      OutputOptions.print(json);
    } else {
      System.out.println(Table.harmless(message));
    }
    return released ? ExitCode.OK : ExitCode.NO;
  }
}
