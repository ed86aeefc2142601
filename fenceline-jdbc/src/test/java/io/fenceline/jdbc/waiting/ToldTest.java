package io.fenceline.jdbc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.Worker;
import io.fenceline.jdbc.layout.Channels;
import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Grant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.StoreContext;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever waits in another process is told that it is its turn, and does not have to look. */
class ToldTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final Duration LEASE = Duration.ofSeconds(50);

  private static PostgresServer server;
  private static MariaDbServer mariadb;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    server = PostgresServer.builder().fsync(false).start();
    mariadb = MariaDbServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
    mariadb.close();
  }

  private String url(String store) {
    return switch (store) {
      case "sqlite" -> "sqlite:" + folder.resolve("locks.db");
      case "mariadb" -> Urls.of(mariadb);
      default -> Urls.of(server);
    };
  }

  /** No timer fires, so nobody here looks: only a message can bring the grant. */
  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "sqlite", "mariadb"})
  void oneThatWaitsInAnotherProcess_isTold(String store) {
    ManualTime time = new ManualTime();
    time.jumpWall(Duration.between(Instant.ofEpochMilli(time.wallMillis()), Instant.now()));
    try (LockStore waiting = Heard.open(url(store), time);
        JavaProcess other =
            JavaProcess.of(Worker.class)
                .argument(url(store))
                .argument(Long.toString(LEASE.toMillis()))
                .argument("other")
                .start()) {
      other.expect("ready", BOUND);
      // The first wait starts the ears; what is said until they hear is looked for.
      other.send("hold ears");
      other.expect("held", BOUND);
      Heard first = new Heard(waiting, "ears", Mode.EXCLUSIVE, LEASE);
      Eventually.until(BOUND, "ears to hear", () -> Heard.isTold(waiting));
      assertThat(first.waiting).isPositive();
      waiting.withdraw(first.request).join();

      for (int turn = 0; turn < 5; turn++) {
        String name = "told-" + turn;
        other.send("hold " + name);
        other.expect("held", BOUND);
        Heard next = new Heard(waiting, name, Mode.EXCLUSIVE, LEASE);
        Eventually.until(BOUND, "it to wait", () -> next.waiting == 1);
        assertThat(next.granted).isEmpty();
        other.send("release");
        other.expect("valid=true RELEASED", BOUND);
        Eventually.until(BOUND, "a grant by message", () -> next.granted.size() == 1);
        waiting.release(new ReleaseRequest(next.grant(), Duration.ZERO)).join();
      }
    }
  }

  @Test
  void aBell_isHeardByTheOneWhoseNameItIs_andGoesAwayWithIt() throws Exception {
    Path file = Files.createFile(folder.resolve("bells.db"));
    List<String> a = new CopyOnWriteArrayList<>();
    List<String> b = new CopyOnWriteArrayList<>();
    try (SqliteListener bellOfA = new SqliteListener(file, "a", a::add, () -> {});
        SqliteListener bellOfB = new SqliteListener(file, "b", b::add, () -> {})) {
      bellOfA.start();
      bellOfB.start();
      Eventually.until(BOUND, "both", () -> bellOfA.isHearing() && bellOfB.isHearing());
      for (int i = 0; i < 100; i++) {
        String id = "claim-" + i;
        Eventually.until(
            BOUND,
            id + " to be heard", // A bell that has too much to hear says so to nobody.
            () -> {
              SqliteListener.ring(file, "b", id);
              return b.contains(id);
            });
      }
      assertThat(a).isEmpty();
      SqliteListener.ring(file, "nobody", "lost");
    }
    try (var left = Files.list(folder)) {
      assertThat(left).containsExactly(file);
    }
    SqliteListener.ring(file, "a", "late");
    assertThat(a).isEmpty();
  }

  /** What a process that was killed has left in the place does not keep the next one from it. */
  @Test
  void aBellThatWasLeftBehind_isReplaced() throws Exception {
    Path file = Files.createFile(folder.resolve("left.db"));
    Files.createFile(folder.resolve("left.db-bell-a"));
    List<String> heard = new CopyOnWriteArrayList<>();
    try (SqliteListener bell = new SqliteListener(file, "a", heard::add, () -> {})) {
      SqliteListener.ring(file, "a", "early"); // Nobody answers, and nobody is kept waiting.
      bell.start();
      Eventually.until(BOUND, "the bell", bell::isHearing);
      SqliteListener.ring(file, "a", "one");
      Eventually.until(BOUND, "the message", () -> heard.contains("one"));
    }
  }

  /** A client is closed while the next one of the same process waits already. */
  @Test
  void aBellThatEndsLate_leavesItsSuccessorAlone() throws Exception {
    Path file = Files.createFile(folder.resolve("late.db"));
    List<String> heard = new CopyOnWriteArrayList<>();
    try (SqliteListener late = new SqliteListener(file, "a", id -> {}, () -> {});
        SqliteListener bell = new SqliteListener(file, "a", heard::add, () -> {})) {
      late.start();
      Eventually.until(BOUND, "the first", late::isHearing);
      bell.start();
      Eventually.until(BOUND, "the second", bell::isHearing);

      late.close();

      SqliteListener.ring(file, "a", "one");
      Eventually.until(BOUND, "the message", () -> heard.contains("one"));
    }
    try (var left = Files.list(folder)) {
      assertThat(left).containsExactly(file);
    }
  }

  /** While a bell can be rung, a claim need not look for what will be told; in doubt it has to. */
  @Test
  void aBellThatIsHeard_coversClaims_untilItIsDoubted() throws Exception {
    Path file = Files.createFile(folder.resolve("covers.db"));
    List<String> heard = new CopyOnWriteArrayList<>();
    try (SqliteListener bell = new SqliteListener(file, "a", heard::add, () -> {})) {
      assertThat(bell.watch()).as("before it is there").isNull();
      bell.start();
      Eventually.until(BOUND, "the bell", bell::isHearing);
      ArmedBell watch = bell.watch();
      assertThat(watch).isNotNull();
      assertThat(bell.covers(watch)).isTrue();

      bell.doubt(); // A look has found what should have been told.
      assertThat(bell.isHearing()).isFalse();
      assertThat(bell.covers(watch)).isFalse();
      assertThat(bell.watch()).isNull();

      SqliteListener.ring(file, "a", "one");
      Eventually.until(BOUND, "the message", () -> heard.contains("one"));
      assertThat(bell.isHearing()).isTrue();
    }
  }

  /** The release has told the first who waits; each who comes meanwhile would tell it again. */
  @Test
  void whoeverJoinsBehindTheFirst_doesNotTellItOnceMore() {
    ManualTime time = new ManualTime();
    time.jumpWall(Duration.between(Instant.ofEpochMilli(time.wallMillis()), Instant.now()));
    Path file = folder.resolve("locks.db");
    ClientInfo client = new ClientInfo("test", "elsewhere", 2);
    String name = Channels.inFileName(Tables.DEFAULT, ClaimRow.encode(client));
    List<String> heard = new CopyOnWriteArrayList<>();
    try (LockStore here = Heard.open("sqlite:" + file, time)) {
      Heard holder = new Heard(here, "one", Mode.EXCLUSIVE, LEASE);
      Owner first = waitAndVanish("sqlite:" + file, client, time);
      try (SqliteListener bell = new SqliteListener(file, name, heard::add, () -> {})) {
        bell.start();
        Eventually.until(BOUND, "the bell", bell::isHearing);

        here.release(new ReleaseRequest(holder.grant(), Duration.ZERO)).join();
        Heard behind = new Heard(here, "one", Mode.EXCLUSIVE, LEASE);
        SqliteListener.ring(file, name, "last"); // Rings are heard in their order.

        Eventually.until(BOUND, "all rings", () -> heard.contains("last"));
        assertThat(heard).containsExactly(first.id(), "last");
        assertThat(behind.waiting).isOne();
      }
    }
  }

  /** Leaves a claim in the queue, as a process does that is killed. */
  private static Owner waitAndVanish(String uri, ClientInfo client, ManualTime time) {
    SecureRandom random = new SecureRandom();
    Owner owner = Owner.draw(random);
    ClaimRequest request =
        new ClaimRequest("one", owner, Mode.EXCLUSIVE, LEASE, Duration.ZERO, true);
    try (LockStore other =
        JdbcStores.at(uri).open(new StoreContext(client, time, random, BOUND, BOUND))) {
      AtomicBoolean waits = new AtomicBoolean();
      other.claim(request, new WaitsOrFails(waits));
      assertThat(waits).isTrue();
    }
    return owner;
  }

  private record WaitsOrFails(AtomicBoolean waits) implements ClaimHandler {
    @Override
    public void granted(Grant grant) {
      throw new AssertionError("granted");
    }

    @Override
    public void waiting(Obstacle obstacle) {
      waits.set(true);
    }

    @Override
    public void refused(Obstacle obstacle) {
      throw new AssertionError("refused");
    }

    @Override
    public void failed(RuntimeException cause) {} // Its store was closed.
  }
}
