package io.fenceline.testkit.log;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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

  private LogCapture() {}

  /** Captures from now on. */
  public static LogCapture open() {
    LogCapture capture = new LogCapture();
    TestLogProvider.capture = capture;
    return capture;
  }

  void add(Line line) {
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
