package io.fenceline.cli.run;

import java.util.List;
import java.util.function.Consumer;

/** Hears the signals that are sent to the tool; Java has no other way than {@code sun.misc}. */
public final class Signals {
  /** End the tool and the command. */
  public static final List<String> ENDING = List.of("INT", "TERM", "HUP");

  /** Mean something to the command only. */
  private static final List<String> OTHERS = List.of("USR1", "CONT");

  private Signals() {}

  /** Hands over the names of signals from now on; one that was ignored at the start stays so. */
  public static void listen(Consumer<String> listener) {
    Handler handler = new Handler(listener);
    ENDING.forEach(handler::listenTo);
    OTHERS.forEach(handler::listenTo);
  }

  /** The exit code of a process that a signal has ended. */
  public static int exitCode(String name) {
    return 128 + new sun.misc.Signal(name).getNumber();
  }

  private static final class Handler implements sun.misc.SignalHandler {
    private final Consumer<String> listener;

    Handler(Consumer<String> listener) {
      this.listener = listener;
    }

    void listenTo(String name) {
      try {
        sun.misc.Signal.handle(new sun.misc.Signal(name), this);
      } catch (IllegalArgumentException e) {
        // A JVM may keep it for itself; then it does to the tool what it always does.
      }
    }

    @Override
    public void handle(sun.misc.Signal signal) {
      listener.accept(signal.getName());
    }
  }
}
