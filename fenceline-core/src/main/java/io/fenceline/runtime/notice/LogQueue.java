package io.fenceline.runtime.notice;

import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log lines of a client, written one after another by one thread at a time.
 *
 * <p>A log can block: a terminal after Ctrl-S, a pipe that nobody reads. Then only this one thread
 * blocks, and neither a lock nor a listener that has to hear of its loss waits for it.
 */
final class LogQueue {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline");
  private static final int BACKLOG = 10_000;

  private final SerialQueue<Runnable> lines;

  LogQueue(Executor executor) {
    this.lines = new SerialQueue<>(executor, BACKLOG, LogQueue::write);
  }

  /** Writes a line, after those that were added before. */
  void add(Runnable line) {
    lines.add(line);
  }

  private static void write(Runnable line, long dropped) {
    if (dropped > 0) {
      write(() -> LOG.warn("The log was too slow: {} lines were not written", dropped));
    }
    write(line);
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
