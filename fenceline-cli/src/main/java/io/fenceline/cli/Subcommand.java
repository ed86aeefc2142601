package io.fenceline.cli;

import io.fenceline.cli.failure.Failure;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** Something that the tool can do; its options are declared by picocli's annotations. */
interface Subcommand {

  /** Does it, and gives the exit code. */
  int run() throws InterruptedException;

  /**
   * Reads its arguments without picocli, which is slow to start; false if that is not possible, and
   * then nothing that was read counts.
   */
  default boolean readQuickly(List<String> args) {
    return false;
  }

  /** Looks at how picocli has read the arguments; not called after {@link #readQuickly}. */
  default void read(CommandLine.ParseResult parsed) {}

  /**
   * What stood after {@code --}; null if there were no dashes. Few subcommands take any.
   *
   * @throws Failure from all others
   */
  default void command(@Nullable List<String> afterDashes) {
    if (afterDashes != null) {
      throw Failure.usage(
          "nothing may follow --; a command to run belongs to 'fenceline run', 'elect' or 'once'");
    }
  }
}
