package io.fenceline.testbed.pause;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Stops this JVM (SIGSTOP) for a while, again and again at random times, as a busy machine does.
 *
 * <p>Another process does it, which ends with this JVM. The servers that tests have started go on:
 * leases run out while their holders stand still.
 */
public final class RandomPauses implements AutoCloseable {

  // The shell reads one length per line, and ends with the pipe. A JVM that is stopped cannot end,
  // so it is always let go.
  private static final String SCRIPT =
      """
      while read -r seconds; do
        kill -s STOP "$0" || exit
        sleep "$seconds"
        kill -s CONT "$0" || exit
      done
      """;

  private final Process shell;
  private final Thread thread;
  private volatile boolean closed;

  private RandomPauses(Duration length, Duration interval) {
    try {
      this.shell =
          new ProcessBuilder("/bin/sh", "-c", SCRIPT, Long.toString(ProcessHandle.current().pid()))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.thread = new Thread(() -> run(length, interval), "fenceline-testbed-random-pauses");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Starts to pause this JVM.
   *
   * @param length how long each pause is
   * @param interval how long the JVM runs between two pauses, on average
   */
  public static RandomPauses start(Duration length, Duration interval) {
    return new RandomPauses(length, interval);
  }

  private void run(Duration length, Duration interval) {
    String line = String.format(Locale.ROOT, "%.3f%n", length.toNanos() / 1e9);
    OutputStream orders = shell.getOutputStream();
    while (!closed) {
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(2 * interval.toNanos()));
      if (closed) {
        return;
      }
      try {
        orders.write(line.getBytes(StandardCharsets.US_ASCII));
        orders.flush();
      } catch (IOException e) {
        return; // The shell was ended.
      }
    }
  }

  /** Ends the pauses; the last one may still be under way. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    try {
      shell.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
