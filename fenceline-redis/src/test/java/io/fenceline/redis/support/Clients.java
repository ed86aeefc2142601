package io.fenceline.redis.support;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.redis.layout.Script;
import io.fenceline.testbed.proxy.Frame;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The clients of a test, closed after it; and how tests of real servers wait. */
public final class Clients implements AfterEachCallback {
  /** Long enough for a busy machine; nothing waits for it unless something is wrong. */
  public static final Duration AMPLE = Duration.ofSeconds(60);

  private final List<Fenceline> open = new ArrayList<>();

  public Fenceline connect(String uri, Duration lease) {
    return connect(
        Fenceline.builder().store(uri).defaultOptions(LockOptions.defaults().lease(lease)));
  }

  @SuppressWarnings("MustBeClosed") // After the test.
  public Fenceline connect(FencelineBuilder builder) {
    Fenceline client = builder.connect();
    open.add(client);
    return client;
  }

  /** A client that gives up on requests soon. */
  public Fenceline hasty(String uri, Duration lease) {
    return connect(
        Fenceline.builder()
            .store(uri)
            .operationTimeout(Duration.ofMillis(500))
            .defaultOptions(LockOptions.defaults().lease(lease)));
  }

  public void closeAllBut(Fenceline left) {
    open.stream().filter(client -> client != left).forEach(Fenceline::close);
    open.removeIf(client -> client != left);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    open.forEach(Fenceline::close);
    open.clear();
  }

  public static <T> T get(CompletableFuture<T> future) {
    try {
      return future.get(AMPLE.toSeconds(), TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  public static Hold acquire(Fenceline client, String name) {
    return get(client.lock(name).acquireAsync(AMPLE));
  }

  /** Requests that call a script by its hash. */
  public static Predicate<Frame> calls(Script script) {
    String hash = new String(script.hash(), StandardCharsets.US_ASCII);
    return frame -> frame.contains(hash);
  }

  public static void awaitFree(Fenceline client, String name, Duration bound) {
    Eventually.until(bound, name + " to be free", () -> client.inspect(name), LockReport::isFree);
  }

  public static void awaitWaiters(Fenceline client, String name, int count) {
    Eventually.until(
        AMPLE,
        count + " waiters of " + name,
        () -> client.inspect(name).waiters().size(),
        size -> size == count);
  }
}
