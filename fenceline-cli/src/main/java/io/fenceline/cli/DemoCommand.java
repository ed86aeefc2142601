package io.fenceline.cli;

import io.fenceline.cli.demo.Story;
import io.fenceline.cli.failure.ExitCode;
import picocli.CommandLine.Command;

/** {@code fenceline demo}: why locks have fencing tokens, in ten seconds. */
@Command(
    name = "demo",
    description = {
      "Demonstrates overselling in ten seconds: four processes sell five items without a lock, with"
          + " a lock, and with a lock, a pause and a fence."
    })
final class DemoCommand implements Subcommand {
  @Override
  public int run() throws InterruptedException {
    new Story(Main.home()).play();
    return ExitCode.OK;
  }
}
