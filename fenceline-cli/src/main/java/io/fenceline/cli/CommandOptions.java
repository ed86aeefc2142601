package io.fenceline.cli;

import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.options.Config;
import io.fenceline.cli.options.QuickArguments;
import io.fenceline.cli.run.OnLost;
import io.fenceline.cli.run.Programs;
import io.fenceline.cli.run.Supervisor;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a command runs under what was waited for. */
final class CommandOptions extends WaitOptions {
  private static final int DEFAULT_GRACE_SHARE = 4;
  private static final Duration LONGEST_DEFAULT_GRACE = Duration.ofSeconds(10);

  @Option(
      names = {"-c", "--command"},
      paramLabel = "LINE",
      description = "A line for sh, instead of -- COMMAND.")
  private @Nullable String line;

  @Option(
      names = "--on-lost",
      paramLabel = "kill|term|warn",
      description = "What to do to the command when the lock is about to be lost; default kill.")
  private OnLost onLost = OnLost.KILL;

  @Option(
      names = "--grace",
      paramLabel = "TIME",
      description =
          "How long before the end of the lease the command gets TERM; it gets KILL just before the end."
              + " Less than half the lease; default: a quarter of the lease, at most 10s.")
  private @Nullable Duration grace;

  private static final Set<String> QUICK = Set.of("-c", "--command", "--on-lost", "--grace");

  private int wordsBeforeLine;

  /** Whether {@link #read} knows an option. */
  static boolean knows(String option) {
    return QUICK.contains(option) || WaitOptions.QUICK.contains(option);
  }

  @Override
  boolean read(QuickArguments args) {
    switch (args.option()) {
      case "-c", "--command" -> {
        line = args.value();
        wordsBeforeLine = args.words().size();
        return line != null;
      }
      case "--on-lost" -> {
        return readOnLost(args.value());
      }
      case "--grace" -> {
        grace = args.duration();
        return grace != null;
      }
      default -> {
        return super.read(args);
      }
    }
  }

  private boolean readOnLost(@Nullable String value) {
    for (OnLost each : OnLost.values()) {
      if (each.name().toLowerCase(Locale.ROOT).equals(value)) {
        onLost = each;
        return true;
      }
    }
    return false;
  }

  /** Whether no word stands after a line for sh: it would be meant as a part of that. */
  boolean isLineLast(List<String> words) {
    return line == null || words.size() == wordsBeforeLine;
  }

  @Override
  void check(Config config) {
    super.check(config);
    Duration half = Durations.part(lease(config), 2);
    if (grace != null && grace.compareTo(half) >= 0) {
      throw Failure.usage(
          "--grace %s: it must be less than half the lease of %s"
              .formatted(Durations.show(grace), Durations.show(lease(config))));
    }
  }

  boolean hasCommand(@Nullable List<String> afterDashes) {
    return line != null || (afterDashes != null && !afterDashes.isEmpty());
  }

  /** The words of the command, which is there and can be run. */
  List<String> command(String subcommand, @Nullable List<String> afterDashes) {
    List<String> words;
    if (line != null) {
      if (afterDashes != null && !afterDashes.isEmpty()) {
        throw Failure.usage("give either -c 'LINE' or -- COMMAND, not both");
      }
      words = List.of("sh", "-c", line);
    } else if (afterDashes == null || afterDashes.isEmpty()) {
      throw Failure.usage(
          "there is no command; write: fenceline "
              + subcommand
              + " -- COMMAND, or -c 'SHELL LINE'");
    } else {
      words = afterDashes;
    }
    Programs.check(words.get(0), System.getenv());
    return words;
  }

  Supervisor supervisor(Duration chosenLease) {
    Duration share = Durations.part(chosenLease, DEFAULT_GRACE_SHARE);
    Duration usual = share.compareTo(LONGEST_DEFAULT_GRACE) < 0 ? share : LONGEST_DEFAULT_GRACE;
    return new Supervisor(onLost, grace == null ? usual : grace);
  }
}
