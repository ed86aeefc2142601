package io.fenceline.jdbc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.Worker;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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
}
