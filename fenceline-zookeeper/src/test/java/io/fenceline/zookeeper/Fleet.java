package io.fenceline.zookeeper;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.spi.StoreFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** The clients of one test, closed after it, and what they heard. */
final class Fleet implements AutoCloseable {
  static final Duration AMPLE = Duration.ofSeconds(60);

  private final List<Fenceline> clients = new ArrayList<>();
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  @SuppressWarnings("MustBeClosedChecker") // Closed after the test.
  Fenceline client(String label, StoreFactory store, Duration lease) {
    Fenceline client =
        Fenceline.builder()
            .store(store)
            .label(label)
            .connectTimeout(Duration.ofSeconds(20))
            .operationTimeout(Duration.ofSeconds(5))
            .defaultOptions(LockOptions.defaults().lease(lease))
            .listener(
                new LockListener() {
                  @Override
                  public void on(LockEvent event) {
                    events.add(event);
                  }
                })
            .connect();
    clients.add(client);
    return client;
  }

  /** What was heard of a kind, by all clients. */
  <T extends LockEvent> List<T> heard(Class<T> kind) {
    return events.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  static Hold take(Fenceline client, String name) {
    return client.lock(name).tryAcquire().orElseThrow();
  }

  static <T> T get(CompletableFuture<T> future) {
    try {
      return future.get(AMPLE.toSeconds(), TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    for (int i = clients.size() - 1; i >= 0; i--) {
      clients.get(i).close();
    }
  }
}
