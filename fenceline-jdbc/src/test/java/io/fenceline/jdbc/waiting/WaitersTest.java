package io.fenceline.jdbc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.connection.Connections;
import io.fenceline.jdbc.connection.Failures;
import io.fenceline.jdbc.connection.Requests;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.sql.MariaDbDialect;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.StoreContext;
import io.fenceline.testkit.ManualTime;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When those who wait by a bell look all the same; no database takes part. */
class WaitersTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final PollInterval TOLD = PollInterval.millis(20, 5_000);

  private final ManualTime time = new ManualTime();
  private final RandomGenerator random = new Random(31);
  private final StoreContext context =
      new StoreContext(new ClientInfo("test", "host", 1), time, random, LEASE, LEASE);
  private final Tables tables = new Tables("", "bell", "");
  private final Looks looks = new Looks();
  private final MariaDbDialect dialect = new MariaDbDialect();
  private final Requests requests = requests(looks);
  private final Waiters waiters = waiters(requests);
  private final Bell bell = new Bell();

  WaitersTest() {
    waiters.listenWith(bell, TOLD);
  }

  private Requests requests(Connections connections) {
    return new Requests(connections, dialect, new Failures("memory", dialect, List.of()), time);
  }

  private Waiters waiters(Requests using) {
    return new Waiters(
        "memory",
        "1@host test",
        context,
        using,
        new Statements(dialect, tables),
        PollInterval.millis(10, 250));
  }

  @AfterEach
  void close() {
    waiters.close();
  }

  /** A database that is only counted how often it is looked at. */
  private static final class Looks implements Connections {
    int count;

    @Override
    public <T extends @Nullable Object> T use(Purpose purpose, Work<T> task) {
      count++;
      return null;
    }

    @Override
    public int atOnce() {
      return 1;
    }

    @Override
    public void close() {}
  }

  /** As MariaDB's: each sleep looks at the names that wait when it begins. */
  private final class Bell implements NotificationListener {
    private long sleep = 1;
    private Collection<String> lookedAt = List.of();
    private boolean ringsOnceAsked;

    void ring() {
      waiters.rung();
      sleep++;
      lookedAt = waiters.quietNames();
    }

    @Override
    public void start() {}

    @Override
    public boolean isHearing() {
      return true;
    }

    @Override
    public ArmedBell watch() {
      return new ArmedBell(sleep, "mark" + sleep);
    }

    @Override
    public boolean covers(ArmedBell watch) {
      boolean covered = watch.covers(sleep);
      if (ringsOnceAsked) {
        ringsOnceAsked = false;
        ring();
      }
      return covered;
    }

    @Override
    public void close() {}
  }

  private ClaimRequest request(String name) {
    return new ClaimRequest(name, Owner.draw(random), Mode.EXCLUSIVE, LEASE, Duration.ZERO, true);
  }

  private QueuedClaim claim(ClaimRequest request) {
    return new QueuedClaim(
        "memory",
        request,
        new QueuePollerTest.Ignored(),
        context,
        Duration.ofDays(1),
        again -> CompletableFuture.completedFuture(new ClaimAnswer.Waiting(Obstacle.UNKNOWN)));
  }

  private ArmedBell armed() {
    ArmedBell watch = bell.watch();
    watch.armed();
    return watch;
  }

  @Test
  void claimThatTheBellCovers_isNotLookedFor() {
    ClaimRequest request = request("ledger");
    waiters.add(request, claim(request), LEASE, armed());
    time.advance(Duration.ofSeconds(3));
    assertThat(looks.count).isZero();
  }

  /** The bell was rung for it when it was not known yet, and sleeps again without its name. */
  @Test
  void claimThatWasRungForAsItBecameKnown_isLookedFor() {
    ClaimRequest request = request("ledger");
    bell.ringsOnceAsked = true;
    waiters.add(request, claim(request), LEASE, armed());
    if (!bell.lookedAt.contains("ledger")) {
      assertThat(looks.count).as("looks by its own").isPositive();
    }
  }

  @Test
  void claimThatHasWaitedForLong_andAskedInVain_isLookedForSoonAndOften() {
    ClaimRequest request = request("ledger");
    QueuedClaim claim = claim(request);
    waiters.add(request, claim, LEASE, armed());
    time.advance(Duration.ofSeconds(3));
    assertThat(looks.count).isZero();

    waiters.add(request, claim, LEASE, bell.watch()); // A ring may have come while it asked.
    int atOnce = looks.count;
    time.advance(Duration.ofMillis(150));
    assertThat(looks.count - atOnce).as("at 20, 60 and 140 ms").isBetween(2, 4);
  }

  /** One client looks for all of the process. */
  @Test
  void ringWhileTheClientThatLooksIsBeingClosed_letsTheOthersLook() {
    Looks others = new Looks();
    Waiters other = waiters(requests(others));
    other.listenWith(bell, TOLD);
    for (String name : List.of("ledger", "orders")) {
      ClaimRequest request = request(name);
      other.add(request, claim(request), LEASE, armed());
    }
    requests.refuse();
    waiters.rung();
    assertThat(others.count).isPositive();
    other.close();
  }

  /** Requests that may be made on the session of a listener. */
  private static final class OnCallersThreads implements Connections {
    @Override
    public <T extends @Nullable Object> T use(Purpose purpose, Work<T> task) throws SQLException {
      return task.on(new SqlConnection(session(), null, false));
    }

    @Override
    public int atOnce() {
      return 1;
    }

    @Override
    public Duration callerTime() {
      return LEASE;
    }

    @Override
    public void close() {}
  }

  private static Connection session() {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              throw new UnsupportedOperationException(method.getName());
            });
  }

  /** Else what the others are told would have to wait for the answer. */
  @Test
  void whoeverWaitsAlone_isAskedForOnTheSessionThatHasHeard_andNobodyElse() {
    Requests made = requests(new OnCallersThreads());
    ClaimRequest one = request("one");
    ClaimAnswer waits = new ClaimAnswer.Waiting(Obstacle.UNKNOWN);
    waiters.add(
        one,
        new QueuedClaim(
            "memory",
            one,
            new QueuePollerTest.Ignored(),
            context,
            Duration.ofDays(1),
            again -> made.answer("It failed", db -> waits)),
        null,
        null);

    assertThat(waiters.hintOn(session(), one.owner().id())).isTrue();
    ClaimRequest other = request("other");
    waiters.add(other, claim(other), null, null);
    assertThat(waiters.hintOn(session(), one.owner().id())).isFalse();
    waiters.remove(other.owner());
    assertThat(waiters.hintOn(session(), one.owner().id())).isTrue();
  }
}
