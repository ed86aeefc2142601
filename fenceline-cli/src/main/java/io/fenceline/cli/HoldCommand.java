package io.fenceline.cli;

import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.ReleaseOutcome;
import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.options.LockModeOptions;
import io.fenceline.cli.options.StoreOptions;
import io.fenceline.cli.run.Signals;
import io.fenceline.cli.text.Message;
import io.fenceline.cli.text.Tokens;
import io.fenceline.spi.Causes;
import io.fenceline.spi.LockNames;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code fenceline hold}: a lock for a script that can't be wrapped by {@code run}. */
@Command(
    name = "hold",
    description = "Holds a lock until its stdin closes or a signal comes, and prints the token.",
    footer = {
      "",
      "For a program that can't be wrapped by 'fenceline run'. In bash:",
      "  coproc LOCK { fenceline hold nightly-report; }",
      "  read -r token <&\"$${LOCK[0]}\" || exit     # the lock is held from here",
      "  ...",
      "  exec {LOCK[1]}>&-                         # and released here",
      "",
      "The tool does not end your program when the lock is lost: send the token with what it writes.",
      "Exit codes: 0 released; 75 not acquired (-E changes it); 79 lock lost; 69 store unreachable;",
      "64 wrong usage."
    })
final class HoldCommand implements Subcommand {
  private static final String CLOSED = "stdin is closed";
  private static final String LOST = "the lock is lost";
  private static final String ANSWERED = "the store has answered";

  @Mixin private final StoreOptions store = new StoreOptions();
  @Mixin private final LockModeOptions mode = new LockModeOptions();
  @Mixin private final WaitOptions options = new WaitOptions();

  @Parameters(arity = "1..*", paramLabel = "NAME", description = "The lock, or several.")
  private List<String> names = List.of();

  private final BlockingQueue<String> happened = new LinkedBlockingQueue<>();

  @Override
  public int run() throws InterruptedException {
    names.forEach(LockNames::check);
    mode.check(names);
    options.check(store.config());
    options.checkNotNested(names, store, mode);
    LockOptions lock = LockOptions.defaults().lease(options.lease(store.config()));
    Signals.listen(happened::add);
    try (Fenceline fenceline =
        PatientStore.connect(store, options.longestWait(), options.notice())) {
      CompletableFuture<? extends Optional<? extends Held>> asked =
          options.ask(mode.lock(fenceline, names, lock), options.givenWait());
      asked.whenComplete((got, failure) -> happened.add(ANSWERED));
      String first = happened.take();
      while (!first.equals(ANSWERED) && !Signals.ENDING.contains(first)) {
        first = happened.take();
      }
      if (!first.equals(ANSWERED)) {
        return Signals.exitCode(
            first); // What was asked for is undone with the close of the client.
      }
      Optional<? extends Held> held = Causes.join(asked);
      if (held.isEmpty()) {
        return options.conflict(
            WaitOptions.what(names) + " is held by " + WaitOptions.holder(fenceline, names));
      }
      return hold(fenceline, held.get());
    } catch (LockTimeoutException e) {
      return options.conflict(String.valueOf(e.getMessage()));
    }
  }

  private int hold(Fenceline fenceline, Held held) throws InterruptedException {
    try (held) {
      held.lost().thenRun(() -> happened.add(LOST));
      options.say(
          WaitOptions.what(names)
              + " is held (token="
              + Tokens.of(held, names).replace("\n", ",")
              + ")");
      Thread reader = new Thread(this::awaitEndOfInput, "stdin");
      reader.setDaemon(true);
      System.out.println(Tokens.of(held, names));
      System.out.flush();
      reader.start();
      String why = happened.take();
      while (!why.equals(CLOSED) && !why.equals(LOST) && !Signals.ENDING.contains(why)) {
        why = happened.take();
      }
      boolean toldToEnd = Signals.ENDING.contains(why);
      ReleaseOutcome outcome =
          PatientRelease.release(
              fenceline,
              held,
              WaitOptions.what(names),
              options,
              () -> happened.add(ANSWERED),
              longest -> !toldToEnd && goesOn(longest),
              () -> {});
      if (outcome == ReleaseOutcome.ALREADY_LOST) {
        Message.print(WaitOptions.what(names) + " is lost; stop what needs it");
        return ExitCode.LOST;
      }
      return toldToEnd ? Signals.exitCode(why) : ExitCode.OK;
    }
  }

  private boolean goesOn(Duration longest) throws InterruptedException {
    String next = happened.poll(longest.toNanos(), TimeUnit.NANOSECONDS);
    return next == null || !Signals.ENDING.contains(next);
  }

  private void awaitEndOfInput() {
    byte[] ignored = new byte[1_024];
    try {
      while (System.in.read(ignored) >= 0) {
        // Whatever is said, only the end matters.
      }
    } catch (IOException e) {
      // As good as the end.
    }
    happened.add(CLOSED);
  }
}
