package io.fenceline.cli;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.FencelineException;
import io.fenceline.Held;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.cli.run.GuardedCommand;
import io.fenceline.cli.run.Lease;
import io.fenceline.cli.run.OnLost;
import io.fenceline.cli.run.Programs;
import io.fenceline.cli.run.Signals;
import io.fenceline.cli.run.Supervisor;
import io.fenceline.cli.text.Table;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.settings.Durations;
import io.fenceline.spi.LockNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.OptionSpec;
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
      names = {"-q", "--quiet"},
      description = "Print nothing of its own but errors; that the lock is taken is none.")
  private boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description = "Say for whom it waits, what it got, and for how long it had it.")
  private boolean verbose;

  @Option(
      names = {"-u", "--unlock"},
      hidden = true)
  private boolean unlocks;

  @Option(
      names = {"-F", "--no-fork"},
      hidden = true)
  private boolean noFork;

  @Option(
      names = {"-o", "--close"},
      hidden = true) // The command gets no descriptor of the lock anyway.
  @SuppressWarnings("UnusedVariable")
  private boolean closes;

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
          "How long before the end of its lease the command gets TERM; KILL comes just before it."
              + " Less than half the lease; default a quarter of it, at most 10s.")
  private @Nullable Duration grace;

  private @Nullable List<String> command;
  private int wordsBeforeLine;

  @Override
  public boolean readQuickly(List<String> args) {
    QuickArguments quick = new QuickArguments(args);
    while (quick.nextOption()) {
      if (!read(quick)) {
        return false;
      }
    }
    names = quick.words();
    return line == null || quick.words().size() == wordsBeforeLine;
  }

  /** Words after a line for sh were meant to be a part of it, and not names of locks. */
  @Override
  public void read(CommandLine.ParseResult parsed) {
    List<String> args = parsed.originalArgs();
    boolean afterLine = false;
    for (int i = 0; i < args.size(); i++) {
      OptionSpec option = parsed.commandSpec().findOption(args.get(i));
      if (option != null && option.arity().max() > 0) {
        i++;
      }
      afterLine |= args.get(i).startsWith("--command=") || isLine(option);
      if (afterLine && option == null && !args.get(i).startsWith("-")) {
        throw Failure.usage(
            "'"
                + args.get(i)
                + "' stands after -c LINE; quote the whole line, such as -c 'echo x y', and put"
                + " names before it");
      }
    }
  }

  private static boolean isLine(@Nullable OptionSpec option) {
    return option != null && List.of(option.names()).contains("-c");
  }

  private boolean read(QuickArguments args) {
    switch (args.option()) {
      case "-n", "--nonblock" -> now = true;
      case "-w", "--wait", "--timeout" -> wait = duration(args.value());
      case "--lease" -> lease = duration(args.value());
      case "--grace" -> grace = duration(args.value());
      case "--at-least" -> atLeast = orZero(duration(args.value()));
      case "-c", "--command" -> {
        line = args.value();
        wordsBeforeLine = args.words().size();
      }
      case "-q", "--quiet" -> quiet = true;
      case "-v", "--verbose" -> verbose = true;
      case "--store", "--connect-timeout" -> {
        return store.read(args);
      }
      default -> {
        return mode.read(args);
      }
    }
    return switch (args.option()) {
      case "-n", "--nonblock", "-q", "--quiet", "-v", "--verbose" -> args.isFlag();
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
    PatientStore patient = new PatientStore(wait, pause -> checkSignal(supervisor.await(pause)));
    try (GuardedCommand guarded = GuardedCommand.prepare(Main.home());
        Asked asked = patient.ask(() -> asked(patient, options, supervisor))) {
      Held held = asked.held();
      if (held == null) {
        return notAcquired(what() + " is held by " + holder(asked.fenceline()));
      }
      return runUnder(held, guarded, commandLine, supervisor);
    } catch (io.fenceline.LockTimeoutException e) {
      return notAcquired(String.valueOf(e.getMessage()));
    } catch (EndedBySignal e) {
      return e.code;
    }
  }

  /** A signal came before there was a command. */
  private static final class EndedBySignal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    final int code;

    EndedBySignal(int code) {
      super("exit code " + code);
      this.code = code;
    }
  }

  private static void checkSignal(int code) {
    if (code >= 0) {
      throw new EndedBySignal(code);
    }
  }

  /** What was asked for, and the client that has it. */
  private record Asked(Fenceline fenceline, @Nullable Held held) implements AutoCloseable {
    @Override
    public void close() {
      fenceline.close();
    }
  }

  /** Connects and acquires; a grant that was waited for is made to last for half its lease. */
  @SuppressWarnings("MustBeClosedChecker") // The caller closes it.
  private Asked asked(PatientStore patient, LockOptions options, Supervisor supervisor)
      throws InterruptedException {
    Fenceline fenceline = patient.connect(store, new WaitingNotice(quiet, verbose));
    try {
      Acquirable<? extends Held> lock = mode.lock(fenceline, names, options);
      CompletableFuture<? extends Optional<? extends Held>> asked =
          ask(lock, patient.leftOfAttempt());
      asked.whenComplete((held, failure) -> supervisor.wakeUp());
      int ended = supervisor.await();
      if (ended >= 0) {
        giveUp(asked);
      }
      checkSignal(ended);
      Held held = answer(asked).orElse(null);
      if (held != null) {
        // It counts from the last answer of the store: little may be left.
        held.ensure(options.lease().dividedBy(2));
      }
      return new Asked(fenceline, held);
    } catch (InterruptedException | RuntimeException e) {
      fenceline.close();
      throw e;
    }
  }

  private int runUnder(
      Held held, GuardedCommand guarded, List<String> commandLine, Supervisor supervisor)
      throws InterruptedException {
    int code;
    try (held) {
      say(what() + " is held (token=" + Tokens.of(held, names).replace("\n", ",") + ")");
      supervisor.protect(guarded, Lease.of(held));
      guarded.start(commandLine, variables(held));
      code = watch(supervisor, guarded, held);
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

  /** The lock is not given back while the command may run, whatever goes wrong here. */
  private int watch(Supervisor supervisor, GuardedCommand guarded, Held held)
      throws InterruptedException {
    try {
      return supervisor.watch(guarded, Lease.of(held), what());
    } catch (InterruptedException | RuntimeException | Error e) {
      // Like a kill: the watchdog ends the command, and the name opens at the end of the lease.
      Failures.reportAndHalt(e, Runtime.getRuntime()::halt);
      throw e;
    }
  }

  private CompletableFuture<? extends Optional<? extends Held>> ask(
      Acquirable<? extends Held> lock, @Nullable Duration left) {
    if (now || (wait != null && wait.isZero())) {
      return lock.tryAcquireAsync();
    }
    return (left == null ? lock.acquireAsync() : lock.acquireAsync(left)).thenApply(Optional::of);
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
    if (!quiet) {
      Message.print(message);
    }
    return conflictCode;
  }

  private void say(String message) {
    if (verbose) {
      Message.print(message);
    }
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
    if (unlocks) {
      throw Failure.usage(
          "-u: there is no descriptor to unlock; the lock is released with the command's end, or by"
              + " 'fenceline release'");
    } else if (noFork) {
      throw Failure.usage("-F: the tool has to live on beside the command, to renew its lock");
    } else if (quiet && verbose) {
      throw Failure.usage("-q (print nothing) and -v (say more) exclude each other");
    }
    checkNotNested();
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

  /**
   * A run of the same lock around this one holds it until this one has ended: it waits for itself.
   */
  private void checkNotNested() {
    String outer = System.getenv("FENCELINE_NAME");
    boolean waitsForever = !now && wait == null;
    if (outer == null
        || !waitsForever
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
        Tokens.of(held, names),
        StoreOptions.VARIABLE,
        store.addressForOthers());
  }
}
