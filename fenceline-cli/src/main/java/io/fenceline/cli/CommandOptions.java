package io.fenceline.cli;

import io.fenceline.LockOptions;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.options.Config;
import io.fenceline.cli.options.DurationText;
import io.fenceline.cli.options.QuickArguments;
import io.fenceline.cli.run.OnLost;
import io.fenceline.cli.run.Programs;
import io.fenceline.cli.run.Supervisor;
import io.fenceline.cli.text.Message;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How long to wait, and how a command runs under what was waited for. */
final class CommandOptions {
  private static final int DEFAULT_GRACE_SHARE = 4;
  private static final Duration LONGEST_DEFAULT_GRACE = Duration.ofSeconds(10);
  private static final int LARGEST_CODE = 255;

  @Option(
      names = {"-n", "--nonblock"},
      description = "Don't wait: fail at once if it is not free.")
  private boolean now;

  @Option(
      names = {"-w", "--wait", "--timeout"},
      paramLabel = "SECONDS",
      description = "Wait no longer than this; fractions are allowed. Default: wait forever.")
  private @Nullable Duration wait;

  @Option(
      names = {"-E", "--conflict-exit-code"},
      paramLabel = "CODE",
      description = "Exit code when it was not acquired; default 75.")
  private int conflictCode = ExitCode.NOT_ACQUIRED;

  @Option(
      names = {"-c", "--command"},
      paramLabel = "LINE",
      description = "A line for sh, instead of -- COMMAND.")
  private @Nullable String line;

  @Option(
      names = {"-q", "--quiet"},
      description = "Print nothing of its own but errors; that it is taken is none.")
  private boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description = "Say for whom it waits, what it got, and why it ended.")
  private boolean verbose;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      description = "How long the store keeps the lock when this tool falls silent; default 30s.")
  private @Nullable Duration lease;

  @Option(
      names = "--on-lost",
      paramLabel = "kill|term|warn",
      description = "What to do to the command when the lock is about to be lost; default kill.")
  private OnLost onLost = OnLost.KILL;

  @Option(
      names = "--grace",
      paramLabel = "TIME",
      description =
          "How long before the end of its lease the command gets TERM; KILL comes just before it."
              + " Less than half the lease; default a quarter of it, at most 10s.")
  private @Nullable Duration grace;

  /** The options that {@link #read} knows. */
  static final Set<String> QUICK =
      Set.of(
          "-n",
          "--nonblock",
          "-w",
          "--wait",
          "--timeout",
          "-c",
          "--command",
          "-q",
          "--quiet",
          "-v",
          "--verbose",
          "--lease",
          "--grace");

  private int wordsBeforeLine;

  /** For {@link Subcommand#readQuickly}. */
  boolean read(QuickArguments args) {
    switch (args.option()) {
      case "-n", "--nonblock" -> now = true;
      case "-q", "--quiet" -> quiet = true;
      case "-v", "--verbose" -> verbose = true;
      case "-w", "--wait", "--timeout" -> {
        wait = args.duration();
        return wait != null;
      }
      case "--lease" -> {
        lease = args.duration();
        return lease != null;
      }
      case "--grace" -> {
        grace = args.duration();
        return grace != null;
      }
      default -> {
        line = args.value();
        wordsBeforeLine = args.words().size();
        return line != null;
      }
    }
    return args.isFlag();
  }

  /** Whether no word stands after a line for sh: it would be meant as a part of that. */
  boolean isLineLast(List<String> words) {
    return line == null || words.size() == wordsBeforeLine;
  }

  /** Fails if the options exclude each other. */
  void check(Config config) {
    if (quiet && verbose) {
      throw Failure.usage("-q (print nothing) and -v (say more) exclude each other");
    } else if (now && wait != null) {
      throw Failure.usage("-n (don't wait) and -w (wait so long) exclude each other");
    } else if (conflictCode < 0 || conflictCode > LARGEST_CODE) {
      throw Failure.usage("-E " + conflictCode + ": an exit code is from 0 to " + LARGEST_CODE);
    }
    Duration half = lease(config).dividedBy(2);
    if (grace != null && grace.compareTo(half) >= 0) {
      throw Failure.usage(
          "--grace %s: it must be less than half the lease of %s"
              .formatted(Durations.show(grace), Durations.show(lease(config))));
    }
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

  Duration lease(Config config) {
    if (lease != null) {
      return lease;
    }
    return config
        .get(Config.LEASE)
        .map(
            text ->
                DurationText.parse(text)
                    .orElseThrow(
                        () -> Failure.usage("config file: lease = " + text + " is not a duration")))
        .orElse(LockOptions.defaults().lease());
  }

  Supervisor supervisor(Duration chosenLease) {
    Duration share = chosenLease.dividedBy(DEFAULT_GRACE_SHARE);
    Duration usual = share.compareTo(LONGEST_DEFAULT_GRACE) < 0 ? share : LONGEST_DEFAULT_GRACE;
    return new Supervisor(onLost, grace == null ? usual : grace);
  }

  /** As {@code -w} gives it. */
  @Nullable Duration givenWait() {
    return wait;
  }

  /** Whether the first answer counts. */
  boolean isImmediate() {
    return now || (wait != null && wait.isZero());
  }

  boolean waitsForever() {
    return !now && wait == null;
  }

  /** How long to wait at most. */
  Duration longestWait() {
    if (now) {
      return Duration.ZERO;
    }
    return wait == null ? Durations.LONGEST : wait;
  }

  /** Says why nothing was done, and gives the exit code. */
  int conflict(String message) {
    if (!quiet) {
      Message.print(message);
    }
    return conflictCode;
  }

  void say(String message) {
    if (verbose) {
      Message.print(message);
    }
  }

  WaitingNotice notice() {
    return new WaitingNotice(quiet, verbose);
  }
}
