package io.fenceline.testkit.log;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.event.Level;

/**
 * The log lines of a test, while it is open: all levels are on then.
 *
 * <p>Tests that capture do not run at the same time as others.
 */
public final class LogCapture implements AutoCloseable {

  /** A line, with its stack trace if it has one. */
  public record Line(Level level, String text) {}

  private final List<Line> lines = new CopyOnWriteArrayList<>();

  private final CountDownLatch writable;
  private final AtomicInteger failures = new AtomicInteger();

  private LogCapture(CountDownLatch writable) {
    this.writable = writable;
  }

  /** Captures from now on. */
  public static LogCapture open() {
    return blocking(new CountDownLatch(0));
  }

  /** Captures from now on; the first lines are not written: whoever logs them gets an Error. */
  public static LogCapture failing(int times) {
    LogCapture capture = open();
    capture.failures.set(times);
    return capture;
  }

  /** Captures from now on; whoever logs waits until lines can be written. */
  public static LogCapture blocking(CountDownLatch writable) {
    LogCapture capture = new LogCapture(writable);
    TestLogProvider.capture = capture;
    return capture;
  }

  void add(Line line) {
    if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new NoClassDefFoundError("an appender that is not there");
    }
    try {
      writable.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    lines.add(line);
  }

  /** Everything so far. */
  public List<Line> lines() {
    return List.copyOf(lines);
  }

  /** The texts of a level so far. */
  public List<String> at(Level level) {
    return lines.stream().filter(line -> line.level() == level).map(Line::text).toList();
  }

  @Override
  public void close() {
    TestLogProvider.capture = null;
  }
}
