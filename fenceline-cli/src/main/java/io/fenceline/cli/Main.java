package io.fenceline.cli;

import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.failure.Failures;
import io.fenceline.cli.options.GlobalOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** The {@code fenceline} command. */
public final class Main {

  /*
   * Starting is most of what a short run costs, so only the subcommand that was asked for is read
   * by picocli; the whole tree is built for help and completion.
   */

  private static final String DASHES = "--";
  private static final char UNREADABLE = '\uFFFD';

  private Main() {}

  /** Runs it. */
  public static void main(String[] args) {
    int code = call(args);
    System.exit(code);
  }

  /** Runs it, and gives the exit code. */
  public static int call(String[] args) {
    HeadStart.begin();
    List<String> all = List.of(args);
    int dashes = all.indexOf(DASHES);
    List<String> own = dashes < 0 ? all : all.subList(0, dashes);
    boolean debug = own.contains(GlobalOptions.DEBUG);
    configureLog(debug);
    int code;
    try {
      code = run(commandFirst(own), dashes < 0 ? null : all.subList(dashes + 1, all.size()));
    } catch (InterruptedException | RuntimeException | LinkageError e) {
      code = Failures.report(e, own, debug);
    }
    System.out.flush();
    return code;
  }

  /** What every subcommand understands may stand before it, too: it is moved behind it. */
  private static List<String> commandFirst(List<String> own) {
    int first = 0;
    while (first < own.size() && own.get(first).startsWith("--")) {
      boolean takesNext =
          own.get(first).equals("--store") || own.get(first).equals("--connect-timeout");
      first += takesNext ? 2 : 1;
    }
    if (first == 0 || first >= own.size()) {
      return own;
    }
    List<String> moved = new ArrayList<>(own.subList(first, own.size()));
    moved.addAll(1, own.subList(0, first));
    return moved;
  }

  private static int run(List<String> own, @Nullable List<String> afterDashes)
      throws InterruptedException {
    checkReadable(own);
    checkReadable(afterDashes == null ? List.of() : afterDashes);
    Subcommand subcommand = own.isEmpty() ? null : Subcommands.named(own.get(0));
    if (subcommand == null) {
      return RootCommand.answer(own);
    }
    List<String> args = own.subList(1, own.size());
    if (!subcommand.readQuickly(args)) {
      subcommand = Subcommands.fresh(own.get(0));
      CommandLine line = Subcommands.line(own.get(0), subcommand);
      CommandLine.ParseResult parsed = line.parseArgs(args.toArray(String[]::new));
      if (parsed.isUsageHelpRequested()) {
        line.usage(System.out);
        return ExitCode.OK;
      }
      subcommand.read(parsed);
    }
    subcommand.command(afterDashes);
    return subcommand.run();
  }

  /** Java can't pass on bytes that are not UTF-8: the command would get other arguments. */
  private static void checkReadable(List<String> args) {
    for (String arg : args) {
      if (arg.indexOf(UNREADABLE) >= 0) {
        throw Failure.usage(
            "the argument '" + arg + "' is not UTF-8; put such a command into a script");
      }
    }
  }

  private static void configureLog(boolean debug) {
    String prefix = "org.slf4j.simpleLogger.";
    System.setProperty("slf4j.internal.verbosity", "WARN");
    System.setProperty("slf4j.provider", "org.slf4j.simple.SimpleServiceProvider");
    System.setProperty(prefix + "defaultLogLevel", debug ? "warn" : "off");
    System.setProperty(prefix + "log.io.fenceline", debug ? "debug" : "off");
  }

  /** Where the distribution is: the launcher says so. */
  static Path home() {
    String home = System.getProperty("fenceline.home");
    if (home == null) {
      throw new Failure(ExitCode.SYSTEM, "start the tool by its launcher, bin/fenceline");
    }
    return Path.of(home);
  }
}
