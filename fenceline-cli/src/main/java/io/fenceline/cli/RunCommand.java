package io.fenceline.cli;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.failure.Failures;
import io.fenceline.cli.options.LockModeOptions;
import io.fenceline.cli.options.QuickArguments;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.run.CommandHold;
import io.fenceline.cli.run.GuardedCommand;
import io.fenceline.cli.run.Preparation;
import io.fenceline.cli.run.Signals;
import io.fenceline.cli.run.Supervisor;
import io.fenceline.cli.text.Message;
import io.fenceline.cli.text.Tokens;
import io.fenceline.settings.Durations;
import io.fenceline.spi.Causes;
import io.fenceline.spi.LockNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
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
      "first two have one line for each name. Send the token along with what you write: a resource that",
      "refuses a token smaller than the largest it has seen is safe even if this tool is stopped and",
      "can't end the command.",
      "",
      "Exit codes: the command's own (128 + signal if killed); 75 not acquired (-E changes it);",
      "79 lock lost; 69 store unreachable; 64 wrong usage; 126, 127 the command can't be run."
    })
final class RunCommand implements Subcommand {
  /** Whoever waits for longer than this may wait for very long. */
  private static final Duration SETTLING = Duration.ofSeconds(1);

  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final LockModeOptions mode = new LockModeOptions();
  @Mixin private final CommandOptions options = new CommandOptions();

  @Parameters(
      arity = "0..*",
      paramLabel = "NAME",
      description = "The lock, or several: all of them or none.")
  private List<String> names = List.of();

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
      names = "--at-least",
      paramLabel = "TIME",
      description = "Let nobody else have the lock for this long, even if the command ends sooner.")
  private Duration atLeast = Duration.ZERO;

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
    return options.isLineLast(quick.words());
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
    return switch (args.option()) {
      case "--at-least" -> {
        Duration time = args.duration();
        atLeast = time == null ? Duration.ZERO : time;
        yield !atLeast.isZero();
      }
      case "--store", "--connect-timeout", "--label" -> store.read(args);
      case "-o", "--close" -> {
        closes = true;
        yield args.isFlag();
      }
      default -> CommandOptions.knows(args.option()) ? options.read(args) : mode.read(args);
    };
  }

  @Override
  public void command(@Nullable List<String> afterDashes) {
    this.command = afterDashes;
  }

  @Override
  public int run() throws InterruptedException {
    LockOptions lock = check();
    checkNoDescriptor();
    List<String> commandLine = options.command("run NAME", command);

    Supervisor supervisor = options.supervisor(lock.lease());
    Signals.listen(supervisor::tell);
    PatientStore patient =
        new PatientStore(options.givenWait(), pause -> checkSignal(supervisor.await(pause)));
    try (Preparation preparation = Preparation.begin(Main.home());
        Asked asked = patient.ask(() -> asked(patient, preparation, lock, supervisor))) {
      Held held = asked.held();
      if (held == null) {
        return options.conflict(
            CommandOptions.what(names)
                + " is held by "
                + CommandOptions.holder(asked.fenceline(), names));
      }
      return runUnder(asked.fenceline(), held, preparation.await(), commandLine, supervisor);
    } catch (io.fenceline.LockTimeoutException e) {
      return options.conflict(String.valueOf(e.getMessage()));
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
  private Asked asked(
      PatientStore patient, Preparation preparation, LockOptions wanted, Supervisor supervisor)
      throws InterruptedException {
    Fenceline fenceline = patient.connect(store, options.notice());
    try {
      preparation.await();
      Acquirable<? extends Held> lock = mode.lock(fenceline, names, wanted);
      CompletableFuture<? extends Optional<? extends Held>> asked =
          options.ask(lock, patient.leftOfAttempt());
      asked.whenComplete((held, failure) -> supervisor.wakeUp());
      int ended = supervisor.await(SETTLING);
      if (ended < 0 && !asked.isDone()) {
        // It may wait for long beside many others: what the start has left in memory is given back.
        System.gc();
        ended = supervisor.await();
      }
      if (ended >= 0) {
        giveUp(asked);
      }
      checkSignal(ended);
      Held held = Causes.join(asked).orElse(null);
      if (held != null) {
        // It counts from the last answer of the store: little may be left.
        held.ensure(Durations.part(wanted.lease(), 2));
      }
      return new Asked(fenceline, held);
    } catch (InterruptedException | RuntimeException e) {
      fenceline.close();
      throw e;
    }
  }

  private int runUnder(
      Fenceline fenceline,
      Held held,
      GuardedCommand guarded,
      List<String> commandLine,
      Supervisor supervisor)
      throws InterruptedException {
    int code;
    try (held) {
      options.say(
          CommandOptions.what(names)
              + " is held (token="
              + Tokens.of(held, names).replace("\n", ",")
              + ")");
      supervisor.protect(guarded, CommandHold.of(held));
      guarded.start(commandLine, variables(held));
      code = watch(supervisor, guarded, held);
      ReleaseOutcome outcome =
          PatientRelease.release(
              fenceline,
              held,
              CommandOptions.what(names),
              options,
              supervisor::wakeUp,
              longest -> !supervisor.wasToldToEnd() && supervisor.await(longest) < 0,
              guarded::close); // Else its clock would end what was left behind.
      if (outcome == ReleaseOutcome.ALREADY_LOST && code != ExitCode.LOST) {
        Message.print(
            CommandOptions.what(names)
                + " was lost while the command ran; this was noticed only when it was released");
        code = ExitCode.LOST;
      }
    }
    return code;
  }

  /** The lock is not given back while the command may run, whatever goes wrong here. */
  private int watch(Supervisor supervisor, GuardedCommand guarded, Held held)
      throws InterruptedException {
    try {
      return supervisor.watch(guarded, CommandHold.of(held), CommandOptions.what(names));
    } catch (InterruptedException | RuntimeException | Error e) {
      // Like a kill: the watchdog ends the command, and the name opens at the end of the lease.
      Failures.reportAndHalt(e, Runtime.getRuntime()::halt);
      throw e;
    }
  }

  private static void giveUp(CompletableFuture<? extends Optional<? extends Held>> asked) {
    if (!asked.cancel(false) && !asked.isCompletedExceptionally()) {
      asked.join().ifPresent(Held::release);
    }
  }

  // Settings. -----------------------------------------------------------------------------------

  private LockOptions check() {
    if (names.isEmpty()) {
      throw Failure.usage("there is no lock name; write: fenceline run NAME -- COMMAND");
    }
    names.forEach(LockNames::check);
    if (unlocks) {
      throw Failure.usage(
          "-u: there is no descriptor to unlock; the lock is released when the command ends, or by"
              + " 'fenceline release'");
    } else if (noFork) {
      throw Failure.usage("-F: the tool must keep running beside the command, to renew its lock");
    }
    options.check(store.config());
    options.checkNotNested(names, store, mode);
    mode.check(names);
    return LockOptions.defaults().lease(options.lease(store.config())).keepAtLeast(atLeast);
  }

  /** The third form of flock: a descriptor that the script has opened, and no command. */
  private void checkNoDescriptor() {
    if (!options.hasCommand(command)
        && names.size() == 1
        && names.get(0).chars().allMatch(Character::isDigit)) {
      throw Failure.usage(
          "there is no command, and no form with a file descriptor: a lock that other machines"
              + " respect needs a process that renews it; use 'fenceline hold NAME'");
    }
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
