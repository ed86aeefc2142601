package io.fenceline.cli;

import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code fenceline} without a subcommand: help, version, and mistakes. */
@Command(
    name = "fenceline",
    description = {
      "Locks that all your machines share, with fencing tokens.",
      "",
      "  fenceline run nightly-report -- ./report.sh",
      ""
    },
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "'fenceline COMMAND --help' shows its options. The store comes from --store, $FENCELINE_STORE, or",
      "'store = URI' in ~/.config/fenceline/config; otherwise it is a file in your state folder."
    })
final class RootCommand {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Print this help.")
  @SuppressWarnings("UnusedVariable") // picocli reads it
  private boolean help;

  @Option(
      names = {"-V", "--version"},
      description = "Print the version.")
  private boolean version;

  static CommandLine tree() {
    CommandLine root = new CommandLine(new RootCommand());
    for (String name : Subcommands.NAMES) {
      Subcommand subcommand = Subcommands.named(name);
      if (subcommand != null) {
        CommandLine line = Subcommands.line(name, subcommand);
        line.setCommandName(name);
        root.addSubcommand(name, line);
      }
    }
    root.setExpandAtFiles(false);
    root.setUsageHelpWidth(100);
    return root;
  }

  static int answer(List<String> args) {
    CommandLine root = tree();
    if (args.isEmpty()) {
      root.usage(System.err);
      return ExitCode.USAGE;
    }
    if (args.get(0).equals("help")) {
      return help(root, args.subList(1, args.size()));
    }
    if (!args.get(0).startsWith("-")) {
      throw Failure.usage(
          "there is no command '"
              + args.get(0)
              + "'; there are "
              + String.join(", ", Subcommands.NAMES));
    }
    CommandLine.ParseResult parsed = root.parseArgs(args.toArray(String[]::new));
    RootCommand given = root.getCommand();
    if (parsed.isUsageHelpRequested()) {
      root.usage(System.out);
    } else if (given.version) {
      System.out.println("fenceline " + version());
    } else {
      throw Failure.usage("there is no command; see 'fenceline --help'");
    }
    return ExitCode.OK;
  }

  private static int help(CommandLine root, List<String> names) {
    if (names.isEmpty()) {
      root.usage(System.out);
      return ExitCode.OK;
    }
    Subcommand subcommand = Subcommands.named(names.get(0));
    if (subcommand == null || names.size() > 1) {
      throw Failure.usage(
          "write 'fenceline help', or 'fenceline help COMMAND' with one of "
              + String.join(", ", Subcommands.NAMES));
    }
    Subcommands.line(names.get(0), subcommand).usage(System.out);
    return ExitCode.OK;
  }

  private static String version() {
    String version = RootCommand.class.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }
}
