package io.fenceline.runtime;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log lines of a client, written one after another by one thread at a time.
 *
 * <p>A log can stand still: a terminal after Ctrl-S, a pipe that nobody reads. Then this one thread
 * does, and neither a lock nor whoever has to hear of its loss waits for it.
 */
final class LogQueue {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline");
  private static final int BACKLOG = 10_000;

  private final Executor executor;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private boolean draining;
  private long missed;

  LogQueue(Executor executor) {
    this.executor = executor;
  }

  /** Writes a line, after those that were added before. */
  void add(Runnable line) {
    synchronized (waiting) {
      if (waiting.size() >= BACKLOG) {
        missed++;
        return;
      }
      waiting.add(line);
      if (draining) {
        return;
      }
      draining = true;
    }
    start();
  }

  /** Never throws: whoever tells of something has more important things to do afterwards. */
  private void start() {
    try {
      executor.execute(this::drain);
    } catch (Throwable e) {
      synchronized (waiting) {
        draining = false; // It waits for the next line, which tries again.
      }
    }
  }

  private void drain() {
    while (true) {
      Runnable line;
      long missedNow;
      synchronized (waiting) {
        line = waiting.poll();
        missedNow = missed;
        missed = 0;
        if (line == null) {
          draining = false;
          return;
        }
      }
      if (missedNow > 0) {
        write(() -> LOG.warn("The log was too slow: {} lines were not written", missedNow));
      }
      write(line);
    }
  }

  /** Whatever the log throws, be it an Error of its own, the lines that follow are written. */
  private static void write(Runnable line) {
    try {
      line.run();
    } catch (Throwable e) {
      try {
        LOG.warn("A line could not be logged", e);
      } catch (Throwable again) {
        // There is nobody left to tell.
      }
    }
  }
}
