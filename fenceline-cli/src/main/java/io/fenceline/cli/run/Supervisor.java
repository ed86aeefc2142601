package io.fenceline.cli.run;

import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.text.Message;
import io.fenceline.event.Lost;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Watches over a command while its lock is held: passes signals on, and ends the command in time
 * when the lock is in danger.
 *
 * <p>One thread looks at what has happened, and sleeps until something does or the lease has run
 * down to the grace. It asks the hold how long its lease runs; a hold that is renewed never gets
 * there. After a stop of the tool itself the same look finds that the lease is over.
 */
public final class Supervisor {
  private static final String WAKE_UP = "";
  private static final String OVERDUE =
      "the command was ended with its lease, while this tool was stopped";

  /** How long a command that was asked to end has, if the lease sets no limit. */
  private static final Duration LONGEST_GRACE = Duration.ofSeconds(10);

  private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);
  private static final int KILLING_SHARE = 4;
  private static final long ENDING_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long UNKILLABLE_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final long REASON_MILLIS = 500;

  private final LinkedBlockingQueue<String> signals = new LinkedBlockingQueue<>();
  private final OnLost onLost;
  private final Duration grace;

  private boolean endangered;
  private boolean lost;
  private boolean overdue;
  private boolean killed;
  private boolean told;
  private boolean toldToEnd;
  private @Nullable Long killAtNanos;
  private @Nullable Long killedSinceNanos;

  /**
   * Nothing is watched yet.
   *
   * @param grace how long before the end of the lease the command is asked to end
   */
  public Supervisor(OnLost onLost, Duration grace) {
    this.onLost = onLost;
    this.grace = grace;
  }

  /** A signal to the tool, or the end of something that {@link #await} waits for. */
  public void tell(String signal) {
    signals.add(signal);
  }

  /** Wakes up whoever waits here. */
  public void wakeUp() {
    signals.add(WAKE_UP);
  }

  /** Waits for a wake-up; gives the exit code if a signal says to stop waiting, else -1. */
  public int await() throws InterruptedException {
    return await(LONGEST_WAIT);
  }

  /** As {@link #await()}, for so long at most. */
  public int await(Duration longest) throws InterruptedException {
    boolean isBounded = longest.compareTo(LONGEST_WAIT) < 0;
    long endNanos = System.nanoTime() + (isBounded ? longest : LONGEST_WAIT).toNanos();
    while (true) {
      String signal = signals.poll(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (signal == null || signal.equals(WAKE_UP)) {
        return -1;
      } else if (Signals.ENDING.contains(signal)) {
        return Signals.exitCode(signal);
      }
    }
  }

  /**
   * To be called before the command is started: from then on it does not outlive the lease, also if
   * this process is stopped.
   */
  public void protect(GuardedCommand command, CommandHold lease) {
    if (onLost != OnLost.WARN) {
      command.allow(lease, onLost.name());
    }
  }

  /**
   * Watches until the command has ended. If it did not end by itself, or a signal ended it, until
   * all that it has started has ended, too: nobody else may have the lock before.
   *
   * @return the exit code of the tool
   */
  public int watch(GuardedCommand command, CommandHold held, String what)
      throws InterruptedException {
    command.onExit(this::wakeUp);
    held.lost().thenRun(this::wakeUp);
    while (!isOver(command, what)) {
      long left = held.remaining().toNanos();
      look(command, held, what, left);
      protect(command, held);
      String signal = signals.poll(pause(command, left), TimeUnit.NANOSECONDS);
      if (signal != null && !signal.equals(WAKE_UP)) {
        pass(command, signal);
      }
    }
    if (held.remaining().isZero() && !lost) {
      lost = true;
      Message.later(what + " was lost while the command ran: " + reason(held));
    }
    Message.flush();
    // It may have been ended a little early: a stopped tool can't say that the lease was renewed.
    overdue = command.isOverdue();
    boolean ended = overdue || (endangered && killAtNanos != null);
    return lost || ended ? ExitCode.LOST : command.exitCode();
  }

  /** Whether what the command ran under was lost, or about to be. */
  public boolean hasLost() {
    return lost || endangered || overdue;
  }

  /** Whether a signal has said to end. */
  public boolean wasToldToEnd() {
    return toldToEnd;
  }

  private boolean isOver(GuardedCommand command, String what) throws InterruptedException {
    if (command.isAlive()) {
      return false;
    }
    boolean byItself = command.hasEndedByItself();
    if (byItself && killAtNanos == null && !killed) {
      if (command.exitCode() <= ExitCode.SIGNAL_BASE) {
        return true; // Whatever it has left behind is left alone.
      }
      // It was cut short, by Ctrl-C or a kill: what it has left behind was not meant to stay.
      askToEnd(command, "TERM");
    }
    if (!byItself && !killed) {
      killed = true;
      Message.later(
          command.isOverdue()
              ? OVERDUE
              : "the guard process was killed; all that the command has started is killed");
    }
    Survivors alive = killed ? kill(command) : command.alive();
    return alive.isNobody() || isHopeless(alive, what);
  }

  private Survivors kill(GuardedCommand command) throws InterruptedException {
    killed = true;
    if (killedSinceNanos == null) {
      killedSinceNanos = System.nanoTime();
    }
    return command.send("KILL");
  }

  /** Processes of another user, such as sudo's, and those that hang in the kernel. */
  private boolean isHopeless(Survivors alive, String what) {
    Long since = killedSinceNanos;
    if (since == null || System.nanoTime() - since < UNKILLABLE_NANOS) {
      return false;
    }
    if (!told) {
      told = true;
      String who =
          alive.isSure()
              ? "the processes " + alive.ids() + " of the command can't be killed; "
              : "/proc can't be read, so processes of the command may be alive; ";
      Message.later(
          who + (lost ? "they go on without " + what : what + " is kept until they are gone"));
    }
    return lost;
  }

  private void look(GuardedCommand command, CommandHold held, String what, long left)
      throws InterruptedException {
    if (left == 0 && !lost) {
      lost = true;
      end(command, onLost == OnLost.KILL ? "KILL" : "TERM");
      Message.later(
          what
              + " is lost: "
              + reason(held)
              + "; "
              + (command.isOverdue() ? OVERDUE : consequence()));
    } else if (left > 0 && left <= grace.toNanos() && !endangered) {
      endangered = true;
      if (onLost == OnLost.KILL) { // Counted from here: to ask a command takes its time.
        killAtNanos = System.nanoTime() + left - killingNanos();
      }
      end(command, "TERM");
      Message.later(
          "%s is in danger: its lease can't be renewed and ends in %s; %s"
              .formatted(what, Durations.show(Duration.ofNanos(left)), warning()));
    }
    boolean isTime = killAtNanos != null && System.nanoTime() - killAtNanos >= 0;
    if (killed || isTime) {
      kill(command);
    }
  }

  /** How long before the end of the lease the command is killed, so that it is gone by then. */
  private long killingNanos() {
    return Math.min(grace.toNanos() / KILLING_SHARE, TimeUnit.SECONDS.toNanos(1));
  }

  private void end(GuardedCommand command, String signal) throws InterruptedException {
    if (onLost == OnLost.WARN) {
      return;
    }
    if (signal.equals("KILL")) {
      kill(command);
    } else {
      command.send(signal);
    }
  }

  /** A signal to the tool is one to the command; one that ends the tool has to end the command. */
  private void pass(GuardedCommand command, String signal) throws InterruptedException {
    if (signal.equals("CONT")) {
      return; // The look that follows judges the lease anew.
    }
    if (Signals.ENDING.contains(signal)) {
      toldToEnd = true;
      askToEnd(command, signal);
    } else {
      command.send(signal);
    }
  }

  private void askToEnd(GuardedCommand command, String signal) throws InterruptedException {
    command.send(signal);
    if (killAtNanos == null) {
      Duration patience = grace.compareTo(LONGEST_GRACE) < 0 ? grace : LONGEST_GRACE;
      killAtNanos = System.nanoTime() + patience.toNanos();
    }
  }

  private long pause(GuardedCommand command, long left) {
    if (killed || !command.isAlive()) {
      return ENDING_PAUSE_NANOS;
    }
    long pause = TimeUnit.HOURS.toNanos(1);
    if (left > 0) {
      pause = Math.min(pause, left > grace.toNanos() ? left - grace.toNanos() : left);
      // Whoever is to end the command while this process is stopped has to hear of renewals in
      // time.
      pause = Math.min(pause, left / 2);
    }
    if (killAtNanos != null) {
      pause = Math.min(pause, killAtNanos - System.nanoTime());
    }
    return Math.max(pause, 0) + TimeUnit.MILLISECONDS.toNanos(1);
  }

  /** The hold ends before those who listen for it hear why: that takes a moment. */
  private static String reason(CommandHold held) {
    Lost loss = null;
    try {
      loss = held.lost().get(REASON_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // Then by its time, which has passed.
    }
    return loss == null
        ? "its lease is over"
        : "%s, last renewed %s ago on a lease of %s (token=%d)"
            .formatted(
                loss.reason().meaning(),
                Durations.show(loss.sinceRenewal()),
                Durations.show(loss.lease()),
                loss.token());
  }

  private String consequence() {
    return switch (onLost) {
      case KILL -> "the command is killed";
      case TERM -> "the command is asked to end";
      case WARN -> "the command goes on unprotected (--on-lost=warn)";
    };
  }

  private String warning() {
    return switch (onLost) {
      case KILL -> "the command is asked to end, and killed then";
      case TERM -> "the command is asked to end";
      case WARN -> "the command goes on (--on-lost=warn)";
    };
  }
}
