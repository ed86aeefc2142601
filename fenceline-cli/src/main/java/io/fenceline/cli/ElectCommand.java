package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.FencelineException;
import io.fenceline.LimitExceededException;
import io.fenceline.LockLostException;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failures;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.run.CommandHold;
import io.fenceline.cli.run.GuardedCommand;
import io.fenceline.cli.run.Signals;
import io.fenceline.cli.run.Supervisor;
import io.fenceline.cli.text.Message;
import io.fenceline.cli.text.Table;
import io.fenceline.event.Lost;
import io.fenceline.recipes.election.Candidate;
import io.fenceline.recipes.election.Election;
import io.fenceline.recipes.election.Leadership;
import io.fenceline.recipes.election.TermEnd;
import io.fenceline.settings.Durations;
import io.fenceline.spi.LockNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fenceline elect}: a command that runs while this process leads. */
@Command(
    name = "elect",
    description = "Runs a command while this process is the elected leader of a name.",
    customSynopsis = {
      "fenceline elect NAME [options] -- COMMAND [ARGUMENT...]",
      "       fenceline elect NAME [options] -c 'SHELL LINE'"
    },
    footer = {
      "",
      "The command gets FENCELINE_TOKEN (the term, which rises from leader to leader), FENCELINE_NAME",
      "and FENCELINE_STORE. It is ended, with all that it started, before another process leads.",
      "",
      "Exit codes: the command's own (128 + signal if killed); 75 not elected in time (-E changes it);",
      "79 leadership lost; 69 store unreachable; 64 wrong usage; 126, 127 the command can't be run."
    })
final class ElectCommand implements Subcommand {

  /*
   * Two threads: the candidate's own, which waits in lead() until the command has ended, however
   * often it is interrupted, so that the lock is not given back before; and the main one, which
   * watches over the command.
   */

  /** When to campaign again. */
  enum Restart {
    NEVER,
    LOST,
    ALWAYS
  }

  /** How long an election takes at most that nobody else has won. */
  private static final Duration AT_ONCE = Duration.ofSeconds(5);

  /** A leadership, until the main thread is through with its command. */
  private record Term(Leadership leadership, CompletableFuture<Void> over) {}

  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final CommandOptions options = new CommandOptions();

  @Parameters(
      paramLabel = "NAME",
      description = "The name to be leader of; it is the name of a lock.")
  private String name = "";

  @Option(
      names = "--restart",
      paramLabel = "never|lost|always",
      description = {
        "When to stand for election again: never (default); lost: after the leadership was lost;"
            + " always: also after the command has ended by itself."
      })
  private Restart restart = Restart.NEVER;

  @Option(
      names = "--longest-term",
      paramLabel = "TIME",
      description =
          "Ask the command to end after this time, so that other candidates get their turn.")
  private @Nullable Duration longestTerm;

  private List<String> command = List.of();
  private volatile @Nullable Supervisor supervisor;
  private volatile @Nullable Term term;
  private volatile @Nullable String endedBy;
  private volatile boolean rotates;

  @Override
  public void command(@Nullable List<String> afterDashes) {
    command = options.command("elect NAME", afterDashes);
  }

  @Override
  public int run() throws InterruptedException {
    LockNames.check(name);
    options.check(store.config());
    Duration lease = options.lease(store.config());
    supervisor = options.supervisor(lease);
    Signals.listen(this::signal);
    try (Fenceline fenceline =
        PatientStore.connect(store, options.longestWait(), options.notice())) {
      Election election = Election.of(fenceline, name).lease(lease).stopWithin(Durations.LONGEST);
      if (longestTerm != null) {
        election = election.longestTerm(longestTerm);
      }
      if (options.longestWait().isZero() && election.leader().isPresent()) {
        return options.conflict("'" + name + "' is led by " + leader(election));
      }
      try (Candidate candidate = election.campaign(this::lead)) {
        int code = campaign(election, lease);
        giveUp(term);
        return code;
      }
    }
  }

  private void signal(String signal) {
    if (Signals.ENDING.contains(signal)) {
      endedBy = signal;
    }
    current().tell(signal);
  }

  private Supervisor current() {
    return Objects.requireNonNull(supervisor);
  }

  /** On the candidate's thread: leads until the command has ended. */
  private void lead(Leadership leadership) throws ExecutionException {
    Term mine = new Term(leadership, new CompletableFuture<>());
    leadership.onLost(this::termEnds);
    term = mine;
    current().wakeUp();
    while (true) {
      try {
        mine.over.get();
        return;
      } catch (InterruptedException e) {
        current().wakeUp(); // The main thread ends the command, and then this.
      }
    }
  }

  /** The loss of the lock is what the supervisor sees by itself. */
  private void termEnds(TermEnd end) {
    if (end == TermEnd.TERM_LIMIT) {
      options.say("the term of '" + name + "' ends: " + end.meaning());
      rotates = true;
      current().tell("TERM");
    }
  }

  private int campaign(Election election, Duration lease) throws InterruptedException {
    Duration wait = options.longestWait();
    wait = wait.isZero() ? AT_ONCE : wait;
    while (true) {
      Term mine = awaitTerm(wait);
      String signal = endedBy;
      if (signal != null) {
        giveUp(mine);
        return Signals.exitCode(signal);
      } else if (mine == null) {
        return options.conflict(
            "'%s' is led by %s, and this process was not elected within %s"
                .formatted(name, leader(election), Durations.show(wait)));
      }
      int code = leadOnce(mine, lease);
      boolean lost = code == ExitCode.LOST;
      boolean again =
          endedBy == null
              && (restart == Restart.ALWAYS || rotates || (lost && restart == Restart.LOST));
      rotates = false;
      if (!again) {
        return code;
      }
      wait = Durations.LONGEST;
      supervisor = options.supervisor(lease);
    }
  }

  /** The next term; null if there is none in time, or a signal came. */
  private @Nullable Term awaitTerm(Duration wait) throws InterruptedException {
    long endNanos = System.nanoTime() + Math.min(wait.toNanos(), Long.MAX_VALUE / 4);
    while (endedBy == null) {
      Term found = term;
      if (found != null && !found.over.isDone()) {
        if (found.leadership.isValid()) {
          return found;
        }
        giveUp(found); // It was lost before it began.
      }
      long left = endNanos - System.nanoTime();
      if (left <= 0) {
        return null;
      }
      int unused = current().await(Duration.ofNanos(left));
    }
    return null;
  }

  private static String leader(Election election) {
    try {
      return election
          .leader()
          .map(it -> Table.harmless(it.label()) + " (term=" + it.term() + ")")
          .orElse("another");
    } catch (FencelineException e) {
      return "another";
    }
  }

  private static void giveUp(@Nullable Term mine) {
    if (mine != null) {
      mine.over.complete(null);
    }
  }

  private int leadOnce(Term mine, Duration lease) throws InterruptedException {
    Leadership leadership = mine.leadership;
    int code = ExitCode.LOST;
    try (GuardedCommand guarded = GuardedCommand.prepare(Main.home())) {
      leadership.ensure(Durations.part(lease, 2));
      options.say("leads '" + name + "' (term=" + leadership.term() + ")");
      CommandHold led = new Led(leadership);
      current().protect(guarded, led);
      guarded.start(command, variables(leadership));
      code = watch(guarded, led);
    } catch (LockLostException | LimitExceededException e) {
      Message.print(String.valueOf(e.getMessage()));
    } finally {
      end(mine, code);
    }
    return code;
  }

  /** A command that failed makes the candidate pause for longer before it campaigns again. */
  private static void end(Term mine, int code) {
    if (code == ExitCode.OK) {
      mine.over.complete(null);
    } else {
      mine.over.completeExceptionally(new CancellationException("exit code " + code));
    }
  }

  private int watch(GuardedCommand guarded, CommandHold led) throws InterruptedException {
    try {
      return current().watch(guarded, led, "the leadership of '" + name + "'");
    } catch (InterruptedException | RuntimeException | Error e) {
      // As in 'run': like a kill, after which the watchdog ends the command.
      Failures.reportAndHalt(e, Runtime.getRuntime()::halt);
      throw e;
    }
  }

  private Map<String, String> variables(Leadership leadership) {
    return Map.of(
        "FENCELINE_NAME",
        name,
        "FENCELINE_TOKEN",
        String.valueOf(leadership.term()),
        StoreOptions.VARIABLE,
        store.addressForOthers());
  }

  /** A leadership as what a command runs under. */
  private static final class Led implements CommandHold {
    private final Leadership leadership;
    private final CompletableFuture<Lost> lost = new CompletableFuture<>();

    Led(Leadership leadership) {
      this.leadership = leadership;
      leadership.onLost(
          end -> {
            if (end == TermEnd.LOST) {
              lost.complete(null);
            }
          });
    }

    @Override
    public Duration remaining() {
      return leadership.remaining();
    }

    @Override
    public CompletableFuture<? extends Lost> lost() {
      return lost;
    }
  }
}
