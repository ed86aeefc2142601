package io.fenceline.cli.text;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Lines on stderr, all alike.
 *
 * <p>A thread of its own writes them. A stderr can stand still: a terminal after Ctrl-S, a pager
 * that nobody scrolls. Whoever has a command to end must not wait for it.
 */
public final class Message {
  private static final long PATIENCE_MILLIS = 1000;

  private static final ExecutorService WRITER =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "stderr");
            thread.setDaemon(true);
            return thread;
          });

  private Message() {}

  /** Prints one line; nothing in it steers the terminal. */
  public static void print(String text) {
    later(text);
    flush();
  }

  /** As {@link #print}, without waiting for it. */
  public static void later(String text) {
    String line = "fenceline: " + Table.harmless(text);
    try {
      WRITER.execute(() -> write(line));
    } catch (OutOfMemoryError e) { // No thread is to be had.
      write(line);
    }
  }

  private static void write(String line) {
    System.err.println(line);
    System.err.flush();
  }

  /** Waits until all is written; not for long. */
  public static void flush() {
    try {
      WRITER.submit(() -> {}).get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException | OutOfMemoryError e) {
      // It is written later, or never.
    }
  }
}
