package io.fenceline.cli;

import io.fenceline.ClientClosedException;
import io.fenceline.Fenceline;
import io.fenceline.LockLostException;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import io.fenceline.cli.failure.Failures;
import io.fenceline.cli.once.Answer;
import io.fenceline.cli.once.Records;
import io.fenceline.cli.once.Transcript;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.run.CommandHold;
import io.fenceline.cli.run.GuardedCommand;
import io.fenceline.cli.run.Signals;
import io.fenceline.cli.run.Supervisor;
import io.fenceline.cli.text.Message;
import io.fenceline.event.Lost;
import io.fenceline.recipes.once.Once;
import io.fenceline.recipes.once.OnceRefusedException;
import io.fenceline.recipes.once.OnceReport;
import io.fenceline.recipes.once.Vanished;
import io.fenceline.recipes.once.Work;
import io.fenceline.settings.Durations;
import io.fenceline.spi.StoreAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fenceline once}: a command that runs once for each key. */
@Command(
    name = "once",
    description = {
      "Runs a command once for each key, and answers later calls with its output and exit code.",
    },
    customSynopsis = {
      "fenceline once KEY [options] -- COMMAND [ARGUMENT...]",
      "       fenceline once KEY [options] -c 'SHELL LINE'",
      "       fenceline once --settle KEY [--done CODE | --again] [--token T]"
    },
    footer = {
      "",
      "The command gets FENCELINE_KEY, FENCELINE_TOKEN and FENCELINE_STORE. Any exit is a result that",
      "is kept. An end by a signal, a code above 128, or the loss of the lock is not a result: as after",
      "a crash of this tool, nobody knows what the command has done, and --in-doubt decides.",
      "",
      "Exit codes: the command's own, also when its result is only repeated; 75 another process works on",
      "the key (-E changes it); 65 the key was used for another command; 80 in doubt, settle it; 79 lock",
      "lost; 69 store unreachable; 64 wrong usage; 126, 127 the command can't be run."
    })
final class OnceCommand implements Subcommand {
  /** Whose keys they are; other programs have kinds of work of their own. */
  private static final String KIND = "fenceline-tool";

  private static final int ANSWER_HEADER_BYTES = 64;
  private static final int LARGEST_CODE = 255;

  /** What becomes of a key whose command vanished. */
  enum InDoubt {
    RERUN,
    REFUSE
  }

  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final CommandOptions options = new CommandOptions();

  @Parameters(paramLabel = "KEY", description = "What is to be done once.")
  private String key = "";

  @Option(
      names = "--request",
      paramLabel = "TEXT",
      description = {
        "What the key stands for; the same key with another text is refused (65)."
            + " Default: the command line."
      })
  private @Nullable String request;

  @Option(
      names = "--in-doubt",
      paramLabel = "rerun|refuse",
      description = {
        "If nobody knows whether an earlier command finished: run it again, or refuse (80) until"
            + " somebody has settled the key; default refuse."
      })
  private InDoubt inDoubt = InDoubt.REFUSE;

  @Option(
      names = "--success-only",
      description =
          "Keep only results with exit code 0; after any other, the next call runs the command again.")
  private boolean successOnly;

  @Option(
      names = "--keep",
      paramLabel = "TIME",
      description = "How long a result is kept; default 7d.")
  private Duration keep = Duration.ofDays(7);

  @Option(
      names = "--output-limit",
      paramLabel = "BYTES",
      description =
          "How much of the output is kept; default 1048576. Longer output is cut, with a message.")
  private int outputLimit = 1 << 20;

  @Option(
      names = "--records",
      paramLabel = "URI",
      description = {
        "Where results are kept: SQLite, PostgreSQL, MariaDB, Redis or Valkey. Default: where the"
            + " locks are."
      })
  private @Nullable String records;

  @Option(
      names = "--settle",
      description = "Settle a key in doubt; without --done or --again, show it.")
  private boolean settles;

  @Option(
      names = "--done",
      paramLabel = "CODE",
      description = "With --settle: the command was done; later calls exit with this code.")
  private @Nullable Integer done;

  @Option(
      names = "--again",
      description = "With --settle: the command was not done; the next call runs it.")
  private boolean again;

  @Option(
      names = "--token",
      paramLabel = "T",
      description = "With --settle: only if this token is still the one in doubt.")
  private @Nullable Long token;

  private @Nullable List<String> afterDashes;
  private @Nullable Supervisor supervisor;
  private @Nullable String endedBy;
  private boolean isWorking;

  @Override
  public void command(@Nullable List<String> words) {
    afterDashes = words;
  }

  /** The command did not leave a result. */
  private static final class NoResult extends Exception {
    private static final long serialVersionUID = 1L;

    final int code;

    NoResult(int code) {
      super("exit code " + code);
      this.code = code;
    }
  }

  @Override
  public int run() throws InterruptedException {
    options.check(store.config());
    if (outputLimit < 1 || outputLimit > 1 << 28) {
      throw Failure.usage("--output-limit " + outputLimit + ": from 1 to " + (1 << 28));
    }
    List<String> command = settles ? List.of() : options.command("once KEY", afterDashes);
    checkSettling();
    StoreAddress kept = records == null ? store.address() : StoreAddress.parse(records);
    Duration wait = options.longestWait();
    Signals.listen(this::signal);
    try (Fenceline fenceline = PatientStore.connect(store, wait, options.notice());
        Records opened = Records.at(kept)) {
      Once<Work, Answer> once = once(fenceline, opened, wait);
      opened.createIfRefused(() -> once.find(key));
      supervisor = options.supervisor(options.lease(store.config()));
      closeOnSignal(fenceline);
      return settles ? settle(once) : work(once, command);
    }
  }

  private Once<Work, Answer> once(Fenceline fenceline, Records opened, Duration wait) {
    return Once.of(
            fenceline,
            KIND,
            opened.all(),
            Answer.codec(),
            inDoubt == InDoubt.RERUN ? Vanished.RERUN : Vanished.IN_DOUBT)
        .lease(options.lease(store.config()))
        .waiting(wait)
        .retention(keep)
        .resultLimit(outputLimit + ANSWER_HEADER_BYTES);
  }

  // Signals. ------------------------------------------------------------------------------------

  private @Nullable Runnable waiting;

  private synchronized void signal(String signal) {
    if (isWorking && supervisor != null) {
      supervisor.tell(signal);
    } else if (Signals.ENDING.contains(signal)) {
      endedBy = signal;
      if (waiting != null) {
        new Thread(waiting, "ending").start();
      }
    }
  }

  /** Before the command runs, a closed client is what ends the wait without leaving a trace. */
  private synchronized void closeOnSignal(Fenceline fenceline) {
    waiting = fenceline::close;
    if (endedBy != null) {
      fenceline.close();
    }
  }

  /** False if a signal came first. */
  private synchronized boolean beginWork() {
    isWorking = endedBy == null;
    return isWorking;
  }

  // Work. ---------------------------------------------------------------------------------------

  private int work(Once<Work, Answer> once, List<String> command) throws InterruptedException {
    boolean[] ran = new boolean[1];
    try {
      Answer answer =
          once.call(
              key,
              request == null ? String.join("\0", command) : request,
              work -> {
                ran[0] = true;
                return answer(work, command);
              });
      if (ran[0]) {
        once.sweep();
      } else {
        answer.print(System.out, System.err);
      }
      tellOfCut(answer, ran[0]);
      return answer.exitCode();
    } catch (NoResult e) {
      return e.code;
    } catch (OnceRefusedException e) {
      return refused(e);
    } catch (ClientClosedException | LockLostException e) {
      String signal = endedBy;
      if (signal != null) {
        return Signals.exitCode(signal);
      }
      throw e;
    }
  }

  private void tellOfCut(Answer answer, boolean ran) {
    if (answer.isCut()) {
      Message.print(
          "the output of key '%s' was longer than what is kept of it (bytes=%d, kept=%d, limit=%d); %s"
              .formatted(
                  key,
                  answer.printedBytes(),
                  answer.keptBytes(),
                  outputLimit,
                  ran ? "later calls print its beginning" : "this is its beginning"));
    }
  }

  private int refused(OnceRefusedException e) {
    String message = String.valueOf(e.getMessage());
    return switch (e.reason()) {
      case UNDER_WAY -> options.conflict(message);
      case OTHER_REQUEST -> tell(message, ExitCode.OTHER_REQUEST);
      case IN_DOUBT ->
          tell(
              message
                  + "; find out whether it was done, then: fenceline once --settle '"
                  + key
                  + "' --done CODE, or --again",
              ExitCode.IN_DOUBT);
      case OVERTAKEN -> tell(message, ExitCode.LOST);
      case FAILED_BEFORE, NO_RESULT, NOT_IN_DOUBT -> tell(message, ExitCode.NO);
    };
  }

  private static int tell(String message, int code) {
    Message.print(message);
    return code;
  }

  /** Runs the command, as the one worker of its key. */
  private Answer answer(Work work, List<String> command) throws NoResult {
    Transcript transcript = new Transcript(outputLimit);
    int code;
    if (!beginWork()) {
      throw new NoResult(Signals.exitCode(String.valueOf(endedBy)));
    }
    try (GuardedCommand guarded = GuardedCommand.prepare(Main.home())) {
      work.ensure(Durations.part(options.lease(store.config()), 2));
      options.say("runs key '" + key + "' (token=" + work.token() + ")");
      CommandHold worked = new Worked(work);
      Supervisor watching = Objects.requireNonNull(supervisor);
      watching.protect(guarded, worked);
      guarded.start(command, variables(work), transcript);
      code = watch(watching, guarded, worked);
      guarded.awaitPrinted();
    } catch (InterruptedException e) {
      throw new IllegalStateException("Nobody interrupts this thread", e);
    }
    boolean isResult = code <= ExitCode.SIGNAL_BASE && !hasLost();
    if (!isResult) {
      work.effectBegins(); // Nobody knows how far it came.
      throw new NoResult(code);
    } else if (successOnly && code != 0) {
      throw new NoResult(code);
    }
    return transcript.answer(code);
  }

  private boolean hasLost() {
    Supervisor watching = supervisor;
    return watching != null && watching.hasLost();
  }

  private int watch(Supervisor watching, GuardedCommand guarded, CommandHold worked)
      throws InterruptedException {
    try {
      return watching.watch(guarded, worked, "the lock of key '" + key + "'");
    } catch (InterruptedException | RuntimeException | Error e) {
      // As in 'run': like a kill, after which the watchdog ends the command.
      Failures.reportAndHalt(e, Runtime.getRuntime()::halt);
      throw e;
    }
  }

  /** The work's lock as what a command runs under. */
  private record Worked(Work work) implements CommandHold {
    @Override
    public Duration remaining() {
      return work.remaining();
    }

    @Override
    public CompletableFuture<? extends Lost> lost() {
      return work.lost();
    }
  }

  private Map<String, String> variables(Work work) {
    return Map.of(
        "FENCELINE_KEY",
        key,
        "FENCELINE_TOKEN",
        String.valueOf(work.token()),
        StoreOptions.VARIABLE,
        store.addressForOthers());
  }

  // Settling. -----------------------------------------------------------------------------------

  private void checkSettling() {
    if (!settles && (done != null || again || token != null)) {
      throw Failure.usage("--done, --again and --token belong to 'fenceline once --settle KEY'");
    } else if (settles && afterDashes != null) {
      throw Failure.usage("--settle runs no command; leave out what follows --");
    } else if (done != null && again) {
      throw Failure.usage("--done (it was) and --again (it was not) exclude each other");
    } else if (done != null && (done < 0 || done > LARGEST_CODE)) {
      throw Failure.usage("--done " + done + ": an exit code is from 0 to " + LARGEST_CODE);
    }
  }

  private int settle(Once<Work, Answer> once) throws InterruptedException {
    Optional<OnceReport> known = once.find(key);
    if (known.isEmpty()) {
      return tell(
          "key '" + key + "' is not known: nobody has begun, or it was kept long enough", 1);
    }
    OnceReport report = known.get();
    String shown =
        "key '%s' is %s (token=%d, attempts=%d, since=%s, worker=%s)"
            .formatted(
                key,
                report.state() == OnceReport.State.BEGUN ? "begun, and not finished" : "done",
                report.token(),
                report.attempts(),
                report.since(),
                report.worker());
    if (done == null && !again) {
      System.out.println(shown);
      return ExitCode.OK;
    }
    long begun = token == null ? report.token() : token;
    try {
      if (again) {
        once.forget(key, begun);
      } else {
        once.settle(key, begun, Answer.silent(done == null ? 0 : done));
      }
    } catch (OnceRefusedException e) {
      return refused(e);
    }
    System.out.println(
        "settled key '"
            + key
            + "': "
            + (again ? "the next call runs it" : "it exits with " + done));
    return ExitCode.OK;
  }
}
