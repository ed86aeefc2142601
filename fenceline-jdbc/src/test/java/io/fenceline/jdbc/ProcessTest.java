package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StoreUnavailableException;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Locks between processes: on one SQLite file, on one PostgreSQL, and on one MySQL.
 *
 * <p>How far two processes count together is set by {@code -Dfenceline.jdbc.increments}.
 */
@Isolated
class ProcessTest {
  private static final Duration BOUND = Duration.ofMinutes(4);
  private static final int THREADS = 8;
  private static final int ROUNDS =
      Integer.getInteger("fenceline.jdbc.increments", 2_400) / (2 * THREADS);
  private static final Duration LEASE = Duration.ofSeconds(2);

  private static PostgresServer postgres;
  private static @Nullable MySqlServer mysql;

  @TempDir static Path folder;

  @BeforeAll
  static void start() {
    postgres = PostgresServer.start();
    mysql = MySqlServer.isForThisMachine() ? MySqlServer.start() : null;
  }

  @AfterAll
  static void stop() {
    postgres.close();
    if (mysql != null) {
      mysql.close();
    }
  }

  private static String uri(String store) {
    return switch (store) {
      case "sqlite" -> "sqlite:" + folder.resolve("locks.db");
      case "mysql" -> Urls.of(Objects.requireNonNull(mysql));
      default -> Urls.of(postgres);
    };
  }

  private static JavaProcess worker(String store, String label, Duration lease) {
    return JavaProcess.of(Worker.class)
        .argument(uri(store))
        .argument(Long.toString(lease.toMillis()))
        .argument(label)
        .start();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgresql"})
  void twoProcessesCountTogether(String store) throws Exception {
    Path file = Files.writeString(folder.resolve("count-" + store), "0");
    try (JavaProcess one = worker(store, "one", Duration.ofSeconds(30));
        JavaProcess two = worker(store, "two", Duration.ofSeconds(30))) {
      one.expect("ready", BOUND);
      two.expect("ready", BOUND);
      one.send("count counter %s %d %d".formatted(file, THREADS, ROUNDS));
      two.send("count counter %s %d %d".formatted(file, THREADS, ROUNDS));
      one.expect("done", BOUND);
      two.expect("done", BOUND);
      assertThat(Files.readString(file)).isEqualTo(Integer.toString(2 * THREADS * ROUNDS));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgresql"})
  void killedHolder_freesTheNameWithinItsLease(String store) throws Exception {
    Duration lease = LEASE.multipliedBy(2);
    try (JavaProcess holder = worker(store, "holder", lease);
        Fenceline fenceline = Fenceline.connect(uri(store))) {
      holder.expect("ready", BOUND);
      holder.send("hold killed");
      long token = Long.parseLong(holder.expect("held", BOUND).substring(5));
      holder.kill();
      assertThat(holder.isAlive()).isFalse();
      long killed = System.nanoTime();
      assertThat(fenceline.lock("killed").tryAcquire()).isEmpty();

      Hold next = fenceline.lock("killed").acquireAsync(BOUND).get();

      Duration waited = Duration.ofNanos(System.nanoTime() - killed);
      assertThat(next.token()).isGreaterThan(token);
      // Not two leases: the rest is for a machine that is busy with other things.
      assertThat(waited).isLessThan(lease.multipliedBy(2));
      next.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "postgresql"})
  void stoppedHolder_findsItselfLost(String store) throws Exception {
    try (JavaProcess holder = worker(store, "holder", LEASE);
        Fenceline fenceline = Fenceline.connect(uri(store))) {
      holder.expect("ready", BOUND);
      holder.send("hold stopped");
      long token = Long.parseLong(holder.expect("held", BOUND).substring(5));
      holder.pause();
      assertThat(holder.state()).isEqualTo(ProcessState.STOPPED);

      Hold next = fenceline.lock("stopped").acquireAsync(BOUND).get();
      holder.resume();
      holder.send("release");

      assertThat(holder.expect("valid", BOUND)).isEqualTo("valid=false ALREADY_LOST " + token);
      assertThat(next.token()).isGreaterThan(token);
      assertThat(next.isValid()).isTrue();
      assertThat(fenceline.inspect("stopped").holders()).hasSize(1);
      next.close();
    }
  }

  @Test
  @NeedsMySql
  void processesOnMySql_countTogether_andAreKilledAndStopped() throws Exception {
    twoProcessesCountTogether("mysql");
    killedHolder_freesTheNameWithinItsLease("mysql");
    stoppedHolder_findsItselfLost("mysql");
  }

  /** What SQLite can't do better: its write lock is the kernel's, and nobody else's to break. */
  @Test
  void processStoppedInTheMiddleOfAWrite_keepsAllOutOfAFile_untilItEnds() throws Exception {
    try (JavaProcess writer = worker("sqlite", "writer", LEASE);
        Fenceline fenceline =
            Fenceline.builder()
                .store(uri("sqlite"))
                .operationTimeout(Duration.ofSeconds(1))
                .connect()) {
      writer.expect("ready", BOUND);
      writer.send("begin");
      writer.expect("begun", BOUND);
      writer.pauseAnywhere();
      assertThat(writer.state()).isEqualTo(ProcessState.STOPPED);

      // On a busy machine, the reason may come after the client has given up.
      Eventually.until(
          BOUND,
          "the reason",
          () -> {
            assertThatThrownBy(() -> fenceline.lock("kept-out").tryAcquire())
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("such as a process that is stopped");
            return true;
          });
      writer.kill();
      fenceline.lock("kept-out").acquireAsync(BOUND).get().close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgresql"})
  void fourProcesses_takeTurns(String store) throws Exception {
    Path file = Files.createFile(folder.resolve("turns-" + store));
    List<JavaProcess> workers = new ArrayList<>();
    try (Fenceline fenceline = Fenceline.connect(uri(store))) {
      for (String label : List.of("a", "b", "c", "d")) {
        workers.add(worker(store, label, Duration.ofSeconds(30)));
      }
      workers.forEach(worker -> worker.expect("ready", BOUND));
      Hold gate = fenceline.lock("turns").tryAcquire().orElseThrow();
      workers.forEach(worker -> worker.send("turns turns " + file + " 8 40"));
      Eventually.until(
          BOUND, "four to wait", () -> fenceline.inspect("turns").waiters().size() == 4);
      gate.close();
      workers.forEach(worker -> worker.expect("done", BOUND));
    } finally {
      workers.forEach(JavaProcess::close);
    }
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(4 * 8 * 40);
    assertTurnsAreFair(lines);
  }

  /** While all compete, everybody is granted again and again. */
  private static void assertTurnsAreFair(List<String> lines) {
    List<String> turns = new ArrayList<>();
    Map<String, Integer> sizes = new HashMap<>();
    Map<String, Integer> lastLine = new HashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (sizes.merge(line, 1, Integer::sum) == 1) {
        turns.add(line);
      }
      lastLine.put(line.substring(0, 1), i);
    }
    // A grant is handed on 32 times at most.
    assertThat(sizes.values()).allMatch(size -> size <= 33);
    int allCompete = lastLine.values().stream().mapToInt(i -> i).min().orElseThrow();
    List<String> contested =
        turns.stream()
            .filter(t -> lines.indexOf(t) < allCompete)
            .map(t -> t.substring(0, 1))
            .toList();
    assertThat(contested.size()).isGreaterThan(8);
    // Turns are short: a process that the machine keeps from running misses some, but none starves.
    for (String label : List.of("a", "b", "c", "d")) {
      assertThat(Collections.frequency(contested, label))
          .as("turns of %s in %s", label, contested)
          .isGreaterThan(contested.size() / 10);
    }
  }
}
