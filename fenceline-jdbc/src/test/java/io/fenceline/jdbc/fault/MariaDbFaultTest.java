package io.fenceline.jdbc.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.contract.Sweeping;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of locks when MariaDB does not do well, or is not what it seems. */
@Isolated
class MariaDbFaultTest {
  private static final Duration BOUND = Duration.ofSeconds(60);

  private static MariaDbServer server;

  @BeforeAll
  static void start() {
    server = MariaDbServer.builder().fakeTime().start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void restartOrCrash_forgetsNoGrant_andServesWhoWaited(boolean crash) throws Exception {
    Restarts.check(server, Urls.of(server), crash);
  }

  @Test
  void crashOfAServerThatDoesNotFlush_forgetsGrants_asItDeclared() {
    LockOptions lease = LockOptions.defaults().lease(BOUND);
    // It forgets what it has committed in the last half hour.
    try (MariaDbServer forgets =
            MariaDbServer.builder()
                .setting("innodb-flush-log-at-trx-commit", "0")
                .setting("innodb-flush-log-at-timeout", "1800")
                .onDisk()
                .start();
        Fenceline one =
            Fenceline.builder().store(Urls.of(forgets)).defaultOptions(lease).connect()) {
      one.lock("the tables").tryAcquire().orElseThrow().release();
      forgets.restart(); // In good order: the tables are on disk from now on.
      assertThat(one.guarantees().durable()).isEqualTo(Certainty.NO);

      // The server may flush for reasons of its own, so one crash may forget nothing.
      Eventually.until(BOUND, "a crash that forgets", () -> crashForgets(forgets, one, lease));
    }
  }

  /** Whether a second client was granted what a first one believed to hold. */
  private static boolean crashForgets(MariaDbServer server, Fenceline one, LockOptions lease)
      throws InterruptedException {
    String name = "forgotten-grant-" + System.nanoTime();
    Hold hold = one.lock(name).acquire(BOUND);

    server.kill();
    server.restart();

    try (Fenceline two =
        Fenceline.builder().store(Urls.of(server)).defaultOptions(lease).connect()) {
      Optional<Hold> second = two.lock(name).tryAcquire();
      if (second.isEmpty()) {
        hold.release();
        return false;
      }
      assertThat(hold.isValid()).isTrue();
      assertThat(second.get().token()).isGreaterThan(hold.token());
      Eventually.until(BOUND, "the first to hear of it", () -> !hold.isValid());
      second.get().release();
      return true;
    }
  }

  @Test
  void forgottenNames_keepTokensRising_whenTheClockIsSetBack() {
    try {
      Sweeping.checkNumbers(Urls.of(server), server::clockOffset);
    } finally {
      server.clockOffset(Duration.ZERO);
    }
  }

  /** Sends statements that only read to another server, as read/write splitters do. */
  private static DataSource splitter(String primary, String replica) {
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          Connection writes = DriverManager.getConnection(primary);
          Connection reads = DriverManager.getConnection(replica);
          return proxy(
              Connection.class,
              (name, values) -> {
                if (name.getName().equals("prepareStatement")
                    && writes.getAutoCommit()
                    && onlyReads((String) values[0])) {
                  return name.invoke(reads, values);
                }
                if (name.getName().equals("close")) {
                  reads.close();
                }
                return name.invoke(writes, values);
              });
        });
  }

  private static boolean onlyReads(String statement) {
    String text =
        statement.toUpperCase(Locale.ROOT).replaceFirst("(?s)^SET STATEMENT .*? FOR\\s+", "");
    return text.startsWith("SELECT") && !text.contains("FOR UPDATE");
  }

  @FunctionalInterface
  private interface Answering {
    Object answer(java.lang.reflect.Method method, Object[] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Answering answering) {
    return type.cast(
        Proxy.newProxyInstance(
            MariaDbFaultTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return answering.answer(method, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  @Test
  void renewalOfAGrantThatIsGone_isNotDecidedByAReplicaThatLags() throws Exception {
    try (MariaDbServer replica = MariaDbServer.start();
        LockStore primary = Heard.open(Urls.of(server), new ManualTime());
        LockStore copy = Heard.open(Urls.of(replica), new ManualTime())) {
      StoreContext context =
          new StoreContext(
              new ClientInfo("test", "host", 1),
              new ManualTime(),
              new SecureRandom(),
              BOUND,
              BOUND);
      try (LockStore split =
          JdbcStores.from(splitter(Urls.of(server), Urls.of(replica))).open(context)) {
        Heard heard = new Heard(split, "lagging", Mode.EXCLUSIVE, BOUND);
        copy.claim(heard.request, new Heard.Nothing()); // What the replica has got so far.
        replica.sql("UPDATE fenceline_locks SET number = " + heard.grant().number());
        assertThat(primary.forceRelease("lagging", heard.grant().number()).join()).isTrue();

        Renewal answer = split.renew(List.of(new RenewRequest(heard.grant(), BOUND))).get(0).join();

        assertThat(answer).isEqualTo(Renewal.GONE);
      }
    }
  }
}
