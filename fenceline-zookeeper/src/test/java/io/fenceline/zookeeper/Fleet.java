package io.fenceline.zookeeper;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.Eventually;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.QueueNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;

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

  /** Waits until just these wait for a name, in this order. */
  static void awaitWaiters(Fenceline client, String name, String... line) {
    Eventually.until(
        AMPLE,
        "waiters of " + name,
        () -> client.inspect(name).waiters().stream().map(LockReport.Waiter::label).toList(),
        found -> found.equals(List.of(line)));
  }

  /** The node at a place in line, the holder's first, of a client at {@code /test}. */
  static String node(CuratorFramework meddler, String name, int place) throws Exception {
    String parent = new Layout("/test/fenceline").of(name);
    return meddler.getChildren().forPath(parent).stream()
        .sorted(Comparator.comparing(QueueNode::sequenceOf))
        .map(node -> parent + "/" + node)
        .toList()
        .get(place);
  }
}
