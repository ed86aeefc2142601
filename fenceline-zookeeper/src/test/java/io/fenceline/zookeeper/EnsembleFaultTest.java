package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.Lost;
import io.fenceline.testkit.server.Eventually;
import io.fenceline.testkit.server.ProcessState;
import io.fenceline.testkit.server.ZooKeeperEnsemble;
import io.fenceline.testkit.server.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Servers that die, while locks are held and waited for. */
@Execution(ExecutionMode.SAME_THREAD)
class EnsembleFaultTest {
  /** Sessions that are longer than an election takes, even on a busy machine. */
  private static final Duration TICK = Duration.ofMillis(500);

  private static final Duration SESSION = Duration.ofSeconds(10);
  private static final Duration LEASE = Duration.ofSeconds(7);

  private static ZooKeeperEnsemble ensemble;

  @BeforeAll
  static void start() {
    ensemble = ZooKeeperEnsemble.start(TICK);
  }

  @AfterAll
  static void stop() {
    ensemble.close();
  }

  private static Fenceline client(Fleet fleet, String label) {
    String uri =
        "zookeeper://%s?session=%dms&tick=%dms"
            .formatted(ensemble.connectString(), SESSION.toMillis(), TICK.toMillis());
    return fleet.client(
        label, new ZooKeeperProvider().at(io.fenceline.spi.StoreAddress.parse(uri)), LEASE);
  }

  @Test
  void leaderKilled_theHolderKeepsTheLock_andTheWaiterGetsItAfterwards() {
    ZooKeeperServer leader = ensemble.awaitLeader(Fleet.AMPLE);
    try (Fleet fleet = new Fleet()) {
      Fenceline holder = client(fleet, "holder");
      Fenceline waiter = client(fleet, "waiter");
      Hold hold = Fleet.take(holder, "failover");
      CompletableFuture<Hold> waiting = waiter.lock("failover").acquireAsync(Fleet.AMPLE);
      Eventually.until(
          Fleet.AMPLE, "the wait", () -> holder.inspect("failover").waiters().size() == 1);

      leader.kill();
      assertThat(leader.state()).isEqualTo(ProcessState.GONE);
      ZooKeeperServer next = ensemble.awaitLeader(Fleet.AMPLE);
      assertThat(next).isNotSameAs(leader);

      // Twice a lease later it is still held: it was renewed by the new leader.
      hold.remaining();
      long start = System.nanoTime();
      Eventually.until(
          Fleet.AMPLE,
          "more than a lease",
          () -> System.nanoTime() - start > LEASE.toNanos() + LEASE.toNanos() / 4);
      assertThat(hold.isValid()).isTrue();
      assertThat(waiting).isNotDone();
      assertThat(fleet.heard(Lost.class)).isEmpty();

      hold.release();
      assertThat(Fleet.get(waiting).token()).isGreaterThan(hold.token());
    } finally {
      leader.restart();
    }
  }

  @Test
  void twoOfThreeKilled_nothingIsGranted_andEverythingAgainOnceTheyAreBack() {
    ensemble.awaitLeader(Fleet.AMPLE);
    List<ZooKeeperServer> dying = ensemble.members().subList(0, 2);
    try (Fleet fleet = new Fleet()) {
      Fenceline holder = client(fleet, "holder");
      Hold hold = Fleet.take(holder, "minority");
      Fenceline other = client(fleet, "other");

      dying.forEach(ZooKeeperServer::kill);
      assertThat(dying).allMatch(server -> server.state() == ProcessState.GONE);

      assertThatThrownBy(() -> other.lock("minority-other").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> other.lock("minority").acquire(Duration.ofMillis(500)))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("'minority' was not acquired within 500ms");
      assertThat(Fleet.get(hold.lost()).lease()).isPositive(); // By its own clock.

      CompletableFuture<Hold> waiting = other.lock("minority").acquireAsync(Fleet.AMPLE);
      dying.forEach(ZooKeeperServer::restart);
      assertThat(Fleet.get(waiting).token()).isGreaterThan(hold.token());
      assertThat(Fleet.get(holder.lock("minority-other").acquireAsync(Fleet.AMPLE)).isValid())
          .isTrue();
    }
  }
}
