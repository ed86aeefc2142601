package io.fenceline.cli;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.FencelineException;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.LockReport;
import io.fenceline.MultiHold;
import io.fenceline.PermitHold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.cli.run.GuardedCommand;
import io.fenceline.cli.run.OnLost;
import io.fenceline.cli.run.Programs;
import io.fenceline.cli.run.Signals;
import io.fenceline.cli.run.Supervisor;
import io.fenceline.cli.text.Table;
import io.fenceline.spi.Durations;
import io.fenceline.spi.LockNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fenceline run}: a command under a lock. */
@Command(
    name = "run",
    description = "Runs a command while holding a lock.",
    customSynopsis = {
      "fenceline run NAME... [options] -- COMMAND [ARGUMENT...]",
      "       fenceline run NAME... [options] -c 'SHELL LINE'"
    },
    footer = {
      "",
      "The command gets FENCELINE_TOKEN, FENCELINE_NAME and FENCELINE_STORE. With several names, the",
      "first two have one line each. Send the token along with what you write: a store that refuses a",
      "smaller one than it has seen is safe even while this tool is stopped and can't end the command.",
      "",
      "Exit codes: the command's own (128 + signal if killed); 75 not acquired (-E changes it);",
      "79 lock lost; 69 store unreachable; 64 wrong usage; 126, 127 the command can't be run."
    })
final class RunCommand implements Subcommand {
  private static final int DEFAULT_GRACE_SHARE = 4;
  private static final Duration LONGEST_DEFAULT_GRACE = Duration.ofSeconds(10);
  private static final int LARGEST_CODE = 255;

  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final LockModeOptions mode = new LockModeOptions();

  @Parameters(
      arity = "0..*",
      paramLabel = "NAME",
      description = "The lock, or several: all or none.")
  private List<String> names = List.of();

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
      description = "Exit code when the lock was not acquired; default 75.")
  private int conflictCode = ExitCode.NOT_ACQUIRED;

  @Option(
      names = {"-c", "--command"},
      paramLabel = "LINE",
      description = "A line for sh, instead of -- COMMAND.")
  private @Nullable String line;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      description = "How long the store keeps the lock when this tool falls silent; default 30s.")
  private @Nullable Duration lease;

  @Option(
      names = "--at-least",
      paramLabel = "TIME",
      description = "Keep the name closed for this long, however short the command.")
  private Duration atLeast = Duration.ZERO;

  @Option(
      names = "--on-lost",
      paramLabel = "kill|term|warn",
      description = "What to do to the command when the lock is about to be lost; default kill.")
  private OnLost onLost = OnLost.KILL;

  @Option(
      names = "--grace",
      paramLabel = "TIME",
      description =
          "How long before the end of its lease the command gets TERM; it gets KILL at the end."
              + " Less than half the lease; default a quarter of it, at most 10s.")
  private @Nullable Duration grace;

  private @Nullable List<String> command;

  @Override
  public boolean readQuickly(List<String> args) {
    QuickArguments quick = new QuickArguments(args);
    while (quick.nextOption()) {
      if (!read(quick)) {
        return false;
      }
    }
    names = quick.words();
    return true;
  }

  private boolean read(QuickArguments args) {
    switch (args.option()) {
      case "-n", "--nonblock" -> now = true;
      case "-w", "--wait", "--timeout" -> wait = duration(args.value());
      case "--lease" -> lease = duration(args.value());
      case "--grace" -> grace = duration(args.value());
      case "--at-least" -> atLeast = orZero(duration(args.value()));
      case "-c", "--command" -> line = args.value();
      case "--store", "--connect-timeout" -> {
        return store.read(args);
      }
      default -> {
        return mode.read(args);
      }
    }
    return switch (args.option()) {
      case "-n", "--nonblock" -> args.isFlag();
      case "-w", "--wait", "--timeout" -> wait != null;
      case "--lease" -> lease != null;
      case "--grace" -> grace != null;
      case "--at-least" -> !atLeast.isZero();
      default -> line != null;
    };
  }

  private static @Nullable Duration duration(@Nullable String text) {
    return text == null ? null : DurationText.parse(text).orElse(null);
  }

  private static Duration orZero(@Nullable Duration duration) {
    return duration == null ? Duration.ZERO : duration;
  }

  @Override
  public void command(@Nullable List<String> afterDashes) {
    this.command = afterDashes;
  }

  @Override
  public int run() throws InterruptedException {
    List<String> commandLine = commandLine();
    LockOptions options = check();
    Programs.check(commandLine.get(0), System.getenv());

    Supervisor supervisor = new Supervisor(onLost, graceOf(options.lease()));
    Signals.listen(supervisor::tell);
    try (GuardedCommand guarded = GuardedCommand.prepare(Main.home());
        Fenceline fenceline = store.builder().listener(new WaitingNotice()).connect()) {
      Acquirable<? extends Held> lock = mode.lock(fenceline, names, options);
      CompletableFuture<? extends Optional<? extends Held>> asked = ask(lock);
      asked.whenComplete((held, failure) -> supervisor.wakeUp());
      int ended = supervisor.await();
      if (ended >= 0) {
        giveUp(asked);
        return ended;
      }
      Optional<? extends Held> held = answer(asked);
      if (held.isEmpty()) {
        return notAcquired(what() + " is held by " + holder(fenceline));
      }
      return runUnder(held.get(), options.lease(), guarded, commandLine, supervisor);
    } catch (io.fenceline.LockTimeoutException e) {
      return notAcquired(String.valueOf(e.getMessage()));
    }
  }

  private int runUnder(
      Held held,
      Duration lease,
      GuardedCommand guarded,
      List<String> commandLine,
      Supervisor supervisor)
      throws InterruptedException {
    int code;
    try (held) {
      // A grant that was waited for counts from the last answer of the store: little may be left.
      held.ensure(lease.dividedBy(2));
      guarded.start(commandLine, variables(held));
      code = supervisor.watch(guarded, held, what());
      ReleaseOutcome outcome = held.release();
      if (outcome == ReleaseOutcome.UNKNOWN) {
        Message.print(
            "the store did not confirm that "
                + what()
                + " is released; it opens by itself at the end of its lease");
      } else if (outcome == ReleaseOutcome.ALREADY_LOST && code != ExitCode.LOST) {
        Message.print(what() + " was lost while the command ran, which only its release has shown");
        code = ExitCode.LOST;
      }
    }
    return code;
  }

  private CompletableFuture<? extends Optional<? extends Held>> ask(
      Acquirable<? extends Held> lock) {
    boolean tries = now || (wait != null && wait.isZero());
    return tries
        ? lock.tryAcquireAsync()
        : lock.acquireAsync(wait == null ? Durations.LONGEST : wait).thenApply(Optional::of);
  }

  private static void giveUp(CompletableFuture<? extends Optional<? extends Held>> asked) {
    if (!asked.cancel(false) && !asked.isCompletedExceptionally()) {
      asked.join().ifPresent(Held::release);
    }
  }

  private static Optional<? extends Held> answer(
      CompletableFuture<? extends Optional<? extends Held>> asked) {
    try {
      return asked.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /** Who stands in the way, as far as that can still be seen. */
  private String holder(Fenceline fenceline) {
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

  private int notAcquired(String message) {
    Message.print(message);
    return conflictCode;
  }

  // Settings. -----------------------------------------------------------------------------------

  private List<String> commandLine() {
    if (line != null) {
      if (command != null && !command.isEmpty()) {
        throw Failure.usage("give either -c 'LINE' or -- COMMAND, not both");
      }
      return List.of("sh", "-c", line);
    }
    if (command == null || command.isEmpty()) {
      throw Failure.usage(
          "there is no command; write: fenceline run NAME -- COMMAND, or -c 'SHELL LINE'");
    }
    return command;
  }

  private LockOptions check() {
    if (names.isEmpty()) {
      throw Failure.usage("there is no lock name; write: fenceline run NAME -- COMMAND");
    }
    names.forEach(LockNames::check);
    if (now && wait != null) {
      throw Failure.usage("-n (don't wait) and -w (wait so long) exclude each other");
    }
    if (conflictCode < 0 || conflictCode > LARGEST_CODE) {
      throw Failure.usage("-E " + conflictCode + ": an exit code is from 0 to " + LARGEST_CODE);
    }
    mode.check(names);
    Duration chosen = lease;
    if (chosen == null) {
      chosen =
          store
              .config()
              .get(Config.LEASE)
              .map(RunCommand::configuredLease)
              .orElse(LockOptions.defaults().lease());
    }
    Duration half = chosen.dividedBy(2);
    if (grace != null && grace.compareTo(half) >= 0) {
      throw Failure.usage(
          "--grace %s: it must be less than half the lease of %s"
              .formatted(Durations.show(grace), Durations.show(chosen)));
    }
    return LockOptions.defaults().lease(chosen).keepAtLeast(atLeast);
  }

  private static Duration configuredLease(String text) {
    return DurationText.parse(text)
        .orElseThrow(() -> Failure.usage("config file: lease = " + text + " is not a duration"));
  }

  private Duration graceOf(Duration lease) {
    if (grace != null) {
      return grace;
    }
    Duration share = lease.dividedBy(DEFAULT_GRACE_SHARE);
    return share.compareTo(LONGEST_DEFAULT_GRACE) < 0 ? share : LONGEST_DEFAULT_GRACE;
  }

  private String what() {
    return (names.size() == 1 ? "lock '" : "locks '") + String.join("', '", names) + "'";
  }

  // What the command is told. -------------------------------------------------------------------

  private Map<String, String> variables(Held held) {
    return Map.of(
        "FENCELINE_NAME",
        String.join("\n", names),
        "FENCELINE_TOKEN",
        tokens(held),
        StoreOptions.VARIABLE,
        store.addressForOthers());
  }

  private String tokens(Held held) {
    if (held instanceof Hold hold) {
      return String.valueOf(hold.token());
    } else if (held instanceof PermitHold hold) {
      return String.valueOf(hold.token());
    }
    MultiHold all = (MultiHold) held;
    return names.stream()
        .map(name -> String.valueOf(all.hold(name).token()))
        .collect(Collectors.joining("\n"));
  }
}
