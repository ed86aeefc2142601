package io.fenceline.jdbc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * That a renewal whose row is locked does not depend on the threads of other work, which may all
 * wait for locked rows themselves; the same for each server.
 */
final class BusyThreads {
  private static final Duration BOUND = Duration.ofSeconds(60);

  private BusyThreads() {}

  /** A time whose threads for work are never free. */
  private record AllBusy(ManualTime time) implements Time {
    @Override
    public long nanos() {
      return time.nanos();
    }

    @Override
    public long wallMillis() {
      return time.wallMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
      return time.schedule(delayNanos, task);
    }

    @Override
    public Executor lane(Lane lane) {
      return lane == Lane.WORK ? task -> {} : time.lane(lane);
    }

    @Override
    public void park(Object blocker, long maxNanos) {
      time.park(blocker, maxNanos);
    }

    @Override
    public void close() {
      time.close();
    }
  }

  static void check(String url) throws Exception {
    StoreContext context =
        new StoreContext(
            new ClientInfo("test", "host", 1),
            new AllBusy(new ManualTime()),
            new SecureRandom(),
            BOUND,
            BOUND);
    try (LockStore store = JdbcStores.at(url).open(context);
        Connection stranger = DriverManager.getConnection(url)) {
      Heard heard = new Heard(store, "busy-threads", Mode.EXCLUSIVE, BOUND);
      stranger.setAutoCommit(false);
      try (Statement statement = stranger.createStatement()) {
        statement
            .executeQuery(
                "SELECT owner FROM fenceline_locks WHERE name = 'busy-threads' FOR UPDATE")
            .close();
      }
      CompletableFuture<Renewal> renewal =
          store.renew(List.of(new RenewRequest(heard.grant(), BOUND))).get(0);
      assertThat(renewal).isNotCompletedExceptionally();
      stranger.rollback();
      // If this machine stood still for a second, the row was locked for too long: that is an
      // answer, too.
      Eventually.until(BOUND, "an answer", renewal::isDone);
    }
  }
}
