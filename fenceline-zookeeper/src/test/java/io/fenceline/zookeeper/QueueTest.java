package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.PermitHold;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a waiter makes of it when someone ahead of it leaves. */
class QueueTest {
  /** Long: nothing here may be found out by a poll. */
  private static final Duration LEASE = Duration.ofSeconds(3);

  private final Fleet fleet = new Fleet();
  private Fenceline first;
  private Fenceline second;
  private FaultProxy proxy;
  private Fenceline third;

  @BeforeEach
  void connect() {
    first = fleet.client("first", Servers.store(Servers.single().address()), LEASE);
    second = fleet.client("second", Servers.store(Servers.single().address()), LEASE);
    proxy = FaultProxy.to(Servers.single().host(), Servers.single().port(), Protocol.ZOOKEEPER);
    third = fleet.client("third", Servers.store(proxy.address()), LEASE);
  }

  @AfterEach
  void close() {
    fleet.close();
    proxy.close();
  }

  private <H extends Held> CompletableFuture<H> queue(Acquirable<H> lock, String name, int place) {
    CompletableFuture<H> waiting = lock.acquireAsync(Fleet.AMPLE);
    Eventually.until(Fleet.AMPLE, "a place", () -> first.inspect(name).waiters().size() == place);
    return waiting;
  }

  private void awaitReads(int reads) {
    Eventually.until(Fleet.AMPLE, "the reads", () -> proxy.count("getData") >= reads);
  }

  @Test
  void predecessorThatGaveUp_isNotTakenForOneThatHadTheName() {
    Hold held = Fleet.take(first, "gave-up");
    CompletableFuture<Hold> between = queue(second.lock("gave-up"), "gave-up", 1);
    CompletableFuture<Hold> last = queue(third.lock("gave-up"), "gave-up", 2);
    awaitReads(2); // Of its predecessor and of who has the name, whose clients it meets first here.
    proxy.resetCounts();

    between.cancel(true);
    awaitReads(1); // It has listed the line, and watches its own node: only one is ahead by now.

    assertThat(proxy.count("getChildren")).isEqualTo(1);
    assertThat(last).isNotDone();
    assertThat(first.inspect("gave-up").holders()).hasSize(1);
    held.release();
    assertThat(Fleet.get(last).token()).isGreaterThan(held.token());
  }

  @Test
  void writerThatGaveUp_opensTheWayForReadersBehindIt() {
    Hold reader = first.readWriteLock("writer").readLock().tryAcquire().orElseThrow();
    CompletableFuture<Hold> writer = queue(second.readWriteLock("writer").writeLock(), "writer", 1);
    CompletableFuture<Hold> behind = queue(third.readWriteLock("writer").readLock(), "writer", 2);
    awaitReads(2);

    writer.cancel(true);

    assertThat(Fleet.get(behind).isValid()).isTrue();
    assertThat(reader.isValid()).isTrue();
  }

  @Test
  void permitThatIsNotTheNearest_wakesTheWaiterToo() {
    List<PermitHold> held = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      held.add(first.semaphore("pool", 3).tryAcquire().orElseThrow());
    }
    CompletableFuture<PermitHold> waiting = queue(third.semaphore("pool", 3), "pool", 1);
    Eventually.until(Fleet.AMPLE, "the watches", () -> proxy.count("getChildren2") == 3);
    proxy.resetCounts();

    held.get(0).release();

    assertThat(Fleet.get(waiting).isValid()).isTrue();
    assertThat(proxy.count("getChildren")).as("lists").isEqualTo(1);
  }
}
