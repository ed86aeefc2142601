package io.fenceline.testkit.log;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/** Logs of tests: everything to an open {@link LogCapture}, otherwise errors to the console. */
public final class TestLogProvider implements SLF4JServiceProvider {
  static volatile LogCapture capture;

  private static final ThreadLocal<Runnable> ON_LINE = new ThreadLocal<>();

  private final IMarkerFactory markers = new BasicMarkerFactory();
  private final MDCAdapter context = new BasicMDCAdapter();

  /** For {@link java.util.ServiceLoader}. */
  public TestLogProvider() {}

  /** Calls something for each line that the calling thread writes; null for nothing. */
  public static void onLine(Runnable action) {
    if (action == null) {
      ON_LINE.remove();
    } else {
      ON_LINE.set(action);
    }
  }

  @Override
  public ILoggerFactory getLoggerFactory() {
    return TestLogger::new;
  }

  @Override
  public IMarkerFactory getMarkerFactory() {
    return markers;
  }

  @Override
  public MDCAdapter getMDCAdapter() {
    return context;
  }

  @Override
  public String getRequestedApiVersion() {
    return "2.0.99";
  }

  @Override
  public void initialize() {}

  private static final class TestLogger extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;

    TestLogger(String name) {
      this.name = name;
    }

    @Override
    protected String getFullyQualifiedCallerName() {
      return null;
    }

    @Override
    protected void handleNormalizedLoggingCall(
        Level level, Marker marker, String pattern, Object[] arguments, Throwable throwable) {
      String text = MessageFormatter.basicArrayFormat(pattern, arguments);
      if (throwable != null) {
        StringWriter trace = new StringWriter();
        throwable.printStackTrace(new PrintWriter(trace, true));
        text += "\n" + trace;
      }
      Runnable action = ON_LINE.get();
      if (action != null) {
        action.run();
      }
      LogCapture to = capture;
      if (to != null) {
        to.add(new LogCapture.Line(level, text));
      } else if (level == Level.ERROR) {
        System.err.println(level + " " + name + ": " + text);
      }
    }

    @Override
    public boolean isTraceEnabled() {
      return false;
    }

    @Override
    public boolean isDebugEnabled() {
      return capture != null;
    }

    @Override
    public boolean isInfoEnabled() {
      return true;
    }

    @Override
    public boolean isWarnEnabled() {
      return true;
    }

    @Override
    public boolean isErrorEnabled() {
      return true;
    }
  }
}
