package io.fenceline.cli.options;

import picocli.CommandLine.Option;

/** What every subcommand understands; picocli reads both by itself. */
@SuppressWarnings("UnusedVariable")
public final class GlobalOptions {
  public static final String DEBUG = "--debug";

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Print this help.")
  private boolean help;

  // Looked for before picocli is started, so that a failure of picocli can be debugged too.
  @Option(names = DEBUG, description = "Print stack traces, and what the lock client does.")
  private boolean debug;
}
