package io.fenceline.cli;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.FencelineException;
import io.fenceline.Held;
import io.fenceline.LockOptions;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.options.Config;
import io.fenceline.cli.options.DurationText;
import io.fenceline.cli.options.LockModeOptions;
import io.fenceline.cli.options.QuickArguments;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.run.Terminal;
import io.fenceline.cli.text.Message;
import io.fenceline.cli.text.Table;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How long to wait for a lock, on which lease it is held, and how much is said of it. */
class WaitOptions {
  private static final int LARGEST_CODE = 255;

  @Option(
      names = {"-n", "--nb", "--nonblock"},
      description = "Don't wait: fail at once if the lock is not free.")
  private boolean now;

  @Option(
      names = {"-w", "--wait", "--timeout"},
      paramLabel = "SECONDS",
      description = "Wait no longer than this; fractions are allowed. Default: wait forever.")
  private @Nullable Duration wait;

  @Option(
      names = {"-E", "--conflict-exit-code"},
      paramLabel = "CODE",
      description = "Exit code if the lock was not acquired; default 75.")
  private int conflictCode = ExitCode.NOT_ACQUIRED;

  @Option(
      names = {"-q", "--quiet"},
      description = "Print only errors; a lock that is held by others is not an error.")
  private boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print who holds the lock while waiting for it, and the token once it is held.")
  private boolean verbose;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      description =
          "How long the store keeps the lock without hearing from this tool; default 30s.")
  private @Nullable Duration lease;

  /** The options that {@link #read} knows. */
  static final Set<String> QUICK =
      Set.of(
          "-n",
          "--nb",
          "--nonblock",
          "-w",
          "--wait",
          "--timeout",
          "-E",
          "--conflict-exit-code",
          "-q",
          "--quiet",
          "-v",
          "--verbose",
          "--lease");

  /** For {@link Subcommand#readQuickly}. */
  boolean read(QuickArguments args) {
    switch (args.option()) {
      case "-n", "--nb", "--nonblock" -> now = true;
      case "-q", "--quiet" -> quiet = true;
      case "-v", "--verbose" -> verbose = true;
      case "-w", "--wait", "--timeout" -> {
        wait = args.duration();
        return wait != null;
      }
      case "-E", "--conflict-exit-code" -> {
        conflictCode = args.number();
        return conflictCode >= 0;
      }
      case "--lease" -> {
        lease = args.duration();
        return lease != null;
      }
      default -> {
        return false;
      }
    }
    return args.isFlag();
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
  }

  /**
   * A run of the same lock around this call holds it until this call has ended: it waits for
   * itself.
   */
  void checkNotNested(List<String> names, StoreOptions store, LockModeOptions mode) {
    String outer = System.getenv("FENCELINE_NAME");
    if (outer == null
        || !waitsForever()
        || !store.addressForOthers().equals(System.getenv(StoreOptions.VARIABLE))) {
      return;
    }
    for (String name : names) {
      if (List.of(outer.split("\n", -1)).contains(name) && !mode.isShared()) {
        throw Failure.usage(
            "lock '"
                + name
                + "' is held by the run around this one, which waits for this one to end; give -n, -w"
                + " SECONDS, or another name");
      }
    }
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

  /**
   * Asks for a lock, once or for a while, as the options say; empty if it was held.
   *
   * @param wait how long to wait unless it is asked for once; null for no limit
   */
  CompletableFuture<? extends Optional<? extends Held>> ask(
      Acquirable<? extends Held> lock, @Nullable Duration wait) {
    if (isImmediate()) {
      return lock.tryAcquireAsync();
    }
    return (wait == null ? lock.acquireAsync() : lock.acquireAsync(wait)).thenApply(Optional::of);
  }

  /** Names the lock, or the locks, for messages. */
  static String what(List<String> names) {
    return (names.size() == 1 ? "lock '" : "locks '") + String.join("', '", names) + "'";
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

  /** As {@link #say}; somebody at a terminal is told why nothing happens, too. */
  void explain(String message) {
    if (verbose || (!quiet && Terminal.onStderr())) {
      Message.print(message);
    }
  }

  WaitingNotice notice() {
    return new WaitingNotice(quiet, verbose);
  }

  /** Who stands in the way, as far as that can still be seen. */
  static String holder(Fenceline fenceline, List<String> names) {
    try {
      for (String name : names) {
        for (LockReport.Holder holder : fenceline.inspect(name).holders()) {
          return Table.harmless(holder.label()) + " (token=" + holder.token() + ")";
        }
      }
    } catch (FencelineException e) {
      // The answer is no, whether or not we learn because of whom.
    }
    return "another";
  }
}
