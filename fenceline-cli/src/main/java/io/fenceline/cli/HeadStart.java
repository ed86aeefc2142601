package io.fenceline.cli;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Initialises on another thread what a store's driver will need, while the main thread reads the
 * arguments: a second processor would have nothing to do.
 */
final class HeadStart {

  /*
   * Only classes of the JDK. Two classes that need each other, begun by two threads from two ends, wait
   * for each other for ever; the JDK's are made for being used by many threads from the start, and a
   * driver's need not be.
   *
   * Whatever fails here is not told: whoever needs the class fails where it would have failed.
   */

  /** The launcher says by this property which jars it has chosen. */
  private static final String JARS = "fenceline.jars";

  private HeadStart() {}

  /** Begins, if the driver is one that is known to be waited for. */
  static void begin() {
    begin(System.getProperty(JARS));
  }

  private static void begin(@Nullable String jars) {
    if ("redis".equals(jars)) {
      start(HeadStart::forRedis);
    }
  }

  private static void start(Runnable task) {
    try {
      Thread thread = new Thread(() -> runQuietly(task), "head start");
      thread.setDaemon(true);
      thread.start();
    } catch (OutOfMemoryError e) {
      // There is no room for a thread; it would only have saved time.
    }
  }

  static void runQuietly(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      // See above.
    }
  }

  private static void forRedis() {
    // Lettuce multiplies a duration; Java does that in BigDecimal, whose initialiser squares large
    // numbers.
    Duration unused = Duration.ofSeconds(1).multipliedBy(2);
    // Netty looks for annotations of its handlers, for which Java generates classes.
    boolean unusedEither = Runnable.class.isAnnotationPresent(FunctionalInterface.class);
  }
}
