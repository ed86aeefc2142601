package io.fenceline.testbed.pause;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Pauses the JVM of a test run at random, without a change to any test. JUnit finds it by itself:
 *
 * <pre>
 * mvn test -Djunit.jupiter.extensions.autodetection.enabled=true -Dfenceline.pauses=500
 * </pre>
 *
 * <p>{@code fenceline.pauses} is the length of a pause in milliseconds, and without it nothing is
 * paused; {@code fenceline.pauses.interval} (3000) is the time between two pauses on average.
 */
public final class RandomPausesExtension implements BeforeAllCallback {

  private static @Nullable RandomPauses started;

  /** For {@link java.util.ServiceLoader}. */
  public RandomPausesExtension() {}

  @Override
  public void beforeAll(ExtensionContext context) {
    startOnce();
  }

  private static synchronized void startOnce() {
    Integer millis = Integer.getInteger("fenceline.pauses");
    if (millis == null || started != null) {
      return;
    }
    int interval = Integer.getInteger("fenceline.pauses.interval", 3_000);
    started = RandomPauses.start(Duration.ofMillis(millis), Duration.ofMillis(interval));
  }
}
