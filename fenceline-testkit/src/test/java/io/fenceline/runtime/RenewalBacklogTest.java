package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.ManualTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A store that works through its renewals one by one, and needs most of the time for it. */
class RenewalBacklogTest {
  private static final Duration LEASE = Duration.ofSeconds(12);
  private static final int HOLDS = 100;

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final Queue<Runnable> backlog = new ArrayDeque<>();
  private int sent;
  private boolean answers = true;

  @SuppressWarnings("MustBeClosedChecker") // Closed by the tests.
  private Fenceline connect() {
    return Fenceline.builder()
        .store((StoreFactory) context -> slow(space.factory().open(context)))
        .time(time)
        .defaultOptions(LockOptions.defaults().lease(LEASE))
        .connect();
  }

  /** The memory store, but renewals wait in a queue. */
  private LockStore slow(LockStore store) {
    return (LockStore)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {LockStore.class},
            (proxy, method, arguments) -> {
              if (!method.getName().equals("renew")) {
                try {
                  return method.invoke(store, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              }
              List<CompletableFuture<Renewal>> results = new ArrayList<>();
              for (Object request : (List<?>) arguments[0]) {
                CompletableFuture<Renewal> result = new CompletableFuture<>();
                results.add(result);
                sent++;
                backlog.add(
                    () ->
                        store
                            .renew(List.of((RenewRequest) request))
                            .get(0)
                            .thenAccept(result::complete));
              }
              return results;
            });
  }

  /** Time passes, and the store does one renewal in so much of it. */
  private void pass(Duration duration, Duration each) {
    for (long left = duration.toNanos(); left > 0; left -= each.toNanos()) {
      time.advance(each);
      Runnable next = answers ? backlog.poll() : null;
      if (next != null) {
        next.run();
      }
    }
  }

  private static List<Hold> take(Fenceline client) {
    List<Hold> holds = new ArrayList<>();
    for (int i = 0; i < HOLDS; i++) {
      holds.add(client.lock("name-" + i).tryAcquire().orElseThrow());
    }
    return holds;
  }

  @Test
  void renewalsThatAreOnlySlow_areNotSentAgain_andNothingIsLost() {
    try (Fenceline client = connect()) {
      List<Hold> holds = take(client);
      int periods = 30; // Of a third of a lease, in which the store needs three quarters for all.
      pass(LEASE.dividedBy(3).multipliedBy(periods), Duration.ofMillis(30));

      assertThat(holds).allMatch(Hold::isValid);
      assertThat(sent).isBetween(HOLDS * (periods - 10), HOLDS * (periods + 1));
    }
  }

  @Test
  void storeThatFallsSilent_isAskedAgain_andTheHoldsAreKept() {
    try (Fenceline client = connect()) {
      List<Hold> holds = take(client);
      pass(Duration.ofSeconds(5), Duration.ofMillis(30));
      assertThat(sent).isEqualTo(HOLDS);
      answers = false;
      backlog.clear(); // Those will never be answered.
      pass(Duration.ofSeconds(3), Duration.ofMillis(30));
      answers = true;
      pass(LEASE, Duration.ofMillis(10));

      assertThat(sent).isGreaterThan(HOLDS);
      assertThat(holds).allMatch(Hold::isValid);
    }
  }
}
