package io.fenceline.jdbc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testkit.Eventually;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * That a client which stands still in the middle of a transaction, with a name's row locked, keeps
 * others out for seconds only; the same for each server.
 */
public final class StandingStill {
  private static final Duration BOUND = Duration.ofSeconds(60);

  private StandingStill() {}

  public static void check(ServerProcess server, Protocol protocol, String direct)
      throws Exception {
    try (FaultProxy proxy = FaultProxy.to(server.host(), server.port(), protocol);
        // It does not give up by itself before the other one does.
        Fenceline still =
            connect(direct.replace(server.address(), proxy.address()), BOUND.multipliedBy(3));
        Fenceline other = connect(direct)) {
      Hold hold = other.lock("standing-still").acquireAsync(BOUND).get();
      // It goes on only when it has heard who holds the name: until then, the server waits for it.
      Fault held = proxy.holdReply(Trigger.first(request -> request.contains("FOR UPDATE")));
      // A reader: a mutex would join the queue by one statement where the database has such.
      CompletableFuture<Hold> waiting =
          CompletableFuture.supplyAsync(
                  () -> still.readWriteLock("standing-still").readLock().acquireAsync(BOUND))
              .thenCompose(claim -> claim);
      Eventually.until(BOUND, "the row to be locked", () -> held.timesApplied() > 0);

      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      held.lift();
      assertThat(waiting.get().release()).isEqualTo(ReleaseOutcome.RELEASED);
    }
  }

  /** A row of ours is locked by a transaction that we know nothing of, for several leases. */
  static void checkOtherNames(String url) throws Exception {
    Duration lease = Duration.ofSeconds(4);
    try (Fenceline holder =
            Fenceline.builder()
                .store(url)
                .defaultOptions(LockOptions.defaults().lease(lease))
                .connect();
        Fenceline other = connect(url);
        Connection stuck = DriverManager.getConnection(url)) {
      Hold blocked = holder.lock("row-0-locked").tryAcquire().orElseThrow();
      List<Hold> holds = new ArrayList<>();
      for (int i = 1; i <= 5; i++) {
        holds.add(holder.lock("row-" + i).tryAcquire().orElseThrow());
      }
      stuck.setAutoCommit(false);
      try (Statement statement = stuck.createStatement()) {
        statement.executeQuery(
            "SELECT owner FROM fenceline_locks WHERE name = 'row-0-locked' FOR UPDATE");
      }
      long start = System.nanoTime();
      Eventually.until(
          BOUND,
          "two leases to pass",
          () -> System.nanoTime() - start > lease.multipliedBy(2).toNanos());

      assertThat(holds).allMatch(Hold::isValid);
      assertThat(blocked.isValid()).isFalse();
      stuck.rollback();
      assertThat(other.lock("row-0-locked").acquireAsync(BOUND).get().release())
          .isEqualTo(ReleaseOutcome.RELEASED);
      holds.forEach(Hold::release);
    }
  }

  private static Fenceline connect(String url) {
    return connect(url, BOUND);
  }

  private static Fenceline connect(String url, Duration operationTimeout) {
    return Fenceline.builder().store(url).operationTimeout(operationTimeout).connect();
  }
}
