package io.fenceline.cli.run;

import io.fenceline.Held;
import io.fenceline.cli.ExitCode;
import io.fenceline.cli.Message;
import io.fenceline.event.Lost;
import io.fenceline.spi.Durations;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
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

  /** How long a command that was asked to end has, if the lease sets no limit. */
  private static final Duration LONGEST_GRACE = Duration.ofSeconds(10);

  private final LinkedBlockingQueue<String> signals = new LinkedBlockingQueue<>();
  private final OnLost onLost;
  private final Duration grace;

  private boolean endangered;
  private boolean lost;
  private boolean killed;
  private @Nullable Long killAtNanos;

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
    while (true) {
      String signal = signals.take();
      if (signal.equals(WAKE_UP)) {
        return -1;
      } else if (Signals.ENDING.contains(signal)) {
        return Signals.exitCode(signal);
      }
    }
  }

  /**
   * Watches until the command has ended.
   *
   * @return the exit code of the tool
   */
  public int watch(GuardedCommand command, Held held, String what) throws InterruptedException {
    command.onExit(this::wakeUp);
    held.lost().thenRun(this::wakeUp);
    while (command.isAlive()) {
      long left = held.remaining().toNanos();
      look(command, held, what, left);
      String signal = signals.poll(pause(left), TimeUnit.NANOSECONDS);
      if (signal != null && !signal.equals(WAKE_UP)) {
        pass(command, signal);
      }
    }
    int code = command.exitCode();
    if (held.remaining().isZero() && !lost) {
      lost = true;
      Message.print(what + " was lost while the command ran: " + reason(held));
    }
    boolean ended = endangered && killAtNanos != null;
    return lost || ended ? ExitCode.LOST : code;
  }

  private void look(GuardedCommand command, Held held, String what, long left) {
    if (left == 0 && !lost) {
      lost = true;
      Message.print(what + " is lost: " + reason(held) + "; " + consequence());
      end(command, onLost == OnLost.KILL ? "KILL" : "TERM");
    } else if (left > 0 && left <= grace.toNanos() && !endangered) {
      endangered = true;
      Message.print(
          "%s is in danger: its lease can't be renewed and ends in %s; %s"
              .formatted(what, Durations.show(Duration.ofNanos(left)), warning()));
      end(command, "TERM");
      killAtNanos = onLost == OnLost.KILL ? Long.valueOf(System.nanoTime() + left) : killAtNanos;
    }
    if (killAtNanos != null && System.nanoTime() - killAtNanos >= 0 && !killed) {
      killed = true;
      command.send("KILL");
    }
  }

  private void end(GuardedCommand command, String signal) {
    if (onLost == OnLost.WARN) {
      return;
    }
    killed |= signal.equals("KILL");
    command.send(signal);
  }

  /** A signal to the tool is one to the command; one that ends the tool has to end the command. */
  private void pass(GuardedCommand command, String signal) {
    if (signal.equals("CONT")) {
      return; // The look that follows judges the lease anew.
    }
    command.send(signal);
    if (Signals.ENDING.contains(signal) && killAtNanos == null) {
      Duration patience = grace.compareTo(LONGEST_GRACE) < 0 ? grace : LONGEST_GRACE;
      killAtNanos = System.nanoTime() + patience.toNanos();
    }
  }

  private long pause(long left) {
    long pause = TimeUnit.HOURS.toNanos(1);
    if (left > 0) {
      pause = Math.min(pause, left > grace.toNanos() ? left - grace.toNanos() : left);
    }
    if (killAtNanos != null && !killed) {
      pause = Math.min(pause, killAtNanos - System.nanoTime());
    }
    return Math.max(pause, 0) + TimeUnit.MILLISECONDS.toNanos(1);
  }

  private static String reason(Held held) {
    Lost loss = held.lost().getNow(null);
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
