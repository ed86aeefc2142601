package io.fenceline.recipes.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.recipes.TestStore;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testkit.Eventually;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each key's effect, while four processes ask for it and are killed. */
@Execution(ExecutionMode.CONCURRENT)
class KilledWorkersTest {
  /** {@code ./check --long} has ten thousand. */
  private static final int KEYS = Integer.getInteger("fenceline.once.keys", 60);

  private static final int KILLS = Math.max(4, KEYS / 250);
  private static final int PROCESSES = 4;

  /** Long enough that two of them are not missed by a busy machine alone. */
  private static final Duration LEASE = Duration.ofSeconds(5);

  private static final Duration AMPLE = Duration.ofMinutes(20);

  @ParameterizedTest
  @EnumSource(names = {"SQLITE", "POSTGRESQL", "REDIS"})
  void eachEffectIsHadOnce_althoughWorkersAreKilled(TestStore store) throws Exception {
    prepare(store);
    Random random = new Random(store.ordinal());
    List<JavaProcess> workers = new ArrayList<>();
    List<JavaProcess> victims = new ArrayList<>();
    List<String> told = new ArrayList<>();
    Set<String> askedByKilled = new HashSet<>();
    Set<String> surelyInDoubt = new HashSet<>();
    try {
      for (int i = 0; i < PROCESSES; i++) {
        workers.add(worker(store, i));
      }
      workers.forEach(KilledWorkersTest::letGo);
      int killed = 0;
      for (; killed < KILLS; killed++) {
        // In turn: with an effect and no record, of both kinds, and wherever it is.
        String moment = List.of("works IN_DOUBT", "", "works RERUN", "").get(killed % 4);
        int which = victim(workers, moment, random);
        JavaProcess victim = workers.get(which);
        String last = last(victim);
        victim.kill();
        if (last.startsWith("works IN_DOUBT") && diedBeforeItsRecord(last, System.nanoTime())) {
          surelyInDoubt.add(last.split(" ")[1]);
        }
        victims.add(victim);
        workers.set(which, worker(store, PROCESSES + killed));
        letGo(workers.get(which));
      }
      for (JavaProcess worker : workers) {
        Eventually.until(
            AMPLE,
            worker + " to be done",
            () -> worker.pendingLines().contains("done") || !worker.isAlive());
        assertThat(worker.pendingLines()).as(worker.errors()).contains("done");
        told.addAll(worker.pendingLines());
      }
      // Only now: what a victim has printed may be read some time after its death.
      for (JavaProcess victim : victims) {
        told.addAll(victim.pendingLines());
        victim.pendingLines().stream()
            .filter(line -> line.startsWith("asks "))
            .reduce((first, second) -> second)
            .ifPresent(line -> askedByKilled.add(line.substring("asks ".length())));
      }
      assertThat(inDoubt(store, Vanished.IN_DOUBT)).containsAll(surelyInDoubt);
      for (Vanished vanished : Vanished.values()) {
        judge(store, vanished, killed, told, askedByKilled);
      }
    } finally {
      workers.forEach(JavaProcess::close);
      victims.forEach(JavaProcess::close);
    }
  }

  /** When it was seen to work says little: what it has printed may have been read late. */
  private static boolean diedBeforeItsRecord(String works, long dead) {
    return dead - Long.parseLong(works.split(" ")[2]) < OnceWorker.PAUSE.toNanos();
  }

  private static void letGo(JavaProcess worker) {
    worker.expect("ready", AMPLE);
    worker.send("go");
  }

  private static String last(JavaProcess worker) {
    List<String> lines = worker.pendingLines();
    return lines.isEmpty() ? "" : lines.get(lines.size() - 1);
  }

  /** One whose last line starts like that, as long as there may be one; or any. */
  private static int victim(List<JavaProcess> workers, String moment, Random random) {
    if (moment.isEmpty()) {
      return random.nextInt(PROCESSES);
    }
    return Eventually.until(
        AMPLE,
        "a worker in the middle of its work",
        () -> {
          int done = 0;
          for (int i = 0; i < PROCESSES; i++) {
            String last = last(workers.get(i));
            if (last.startsWith(moment)) {
              return i;
            }
            done += last.equals("done") ? 1 : 0;
          }
          return done == PROCESSES ? 0 : -1; // All keys are done: any of them, then.
        },
        found -> found >= 0);
  }

  private static JavaProcess worker(TestStore store, int seed) {
    return JavaProcess.of(OnceWorker.class)
        .argument(store.uri())
        .argument(Integer.toString(KEYS))
        .argument(Long.toString(LEASE.toMillis()))
        .argument(Integer.toString(seed))
        .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
        .heap(64)
        .start();
  }

  private static void judge(
      TestStore store, Vanished vanished, int kills, List<String> told, Set<String> askedByKilled)
      throws Exception {
    Map<String, Integer> effects = effects(store, vanished);
    Set<String> doubts = inDoubt(store, vanished);
    int repeated = effects.values().stream().mapToInt(count -> count - 1).sum();
    // Who stands still for longer than its lease has vanished for all others, and may yet come
    // back.
    Set<String> late = keys(told, "late " + vanished);
    System.out.printf(
        "%s %s: %d keys, %d kills, %d effects, %d of them repeated, %d keys in doubt, %d late%n",
        store, vanished, KEYS, kills, effects.size(), repeated, doubts.size(), late.size());

    assertThat(told).noneMatch(line -> line.startsWith("wrong "));
    assertThat(keys(told, "refused " + vanished)).as("overtaken").isSubsetOf(late);
    assertThat(told).as("longer than two leases").noneMatch(line -> line.startsWith("slow "));
    assertThat(doubts).as("keys whose worker vanished").isSubsetOf(askedByKilled);
    Set<String> refused = keys(told, "doubt " + vanished);
    assertThat(refused)
        .filteredOn(key -> !late.contains(key))
        .as("refused as in doubt")
        .isSubsetOf(doubts);
    assertStillRefused(store, vanished, doubts);
    boolean isSql = store != TestStore.REDIS;
    if (vanished == Vanished.RERUN) {
      assertThat(doubts).isEmpty();
      assertThat(effects).hasSize(KEYS);
      assertThat(repeated)
          .as("effects beyond the first")
          .isLessThanOrEqualTo(isSql ? 0 : kills + late.size());
    } else {
      assertThat(repeated).as("effects beyond the first").isZero();
      assertThat(effects.size()).isGreaterThanOrEqualTo(KEYS - doubts.size());
      if (isSql) {
        assertThat(effects)
            .as("undone with their records")
            .doesNotContainKeys(doubts.toArray(new String[0]));
      }
    }
  }

  /** The keys of the lines that start like that. */
  private static Set<String> keys(List<String> told, String start) {
    return told.stream()
        .filter(line -> line.startsWith(start))
        .map(line -> line.split(" ")[1])
        .collect(Collectors.toSet());
  }

  private static void assertStillRefused(TestStore store, Vanished vanished, Set<String> doubts) {
    try (Fenceline fenceline = Fenceline.connect(store.uri())) {
      Once<?, String> once = once(fenceline, store, vanished);
      for (String key : doubts) {
        assertThatThrownBy(() -> once.call(key, "request of " + key, work -> "again"))
            .isInstanceOfSatisfying(
                OnceRefusedException.class,
                e -> assertThat(e.reason()).isEqualTo(OnceRefusedException.Reason.IN_DOUBT));
      }
    }
  }

  private static Set<String> inDoubt(TestStore store, Vanished vanished) {
    Set<String> found = new HashSet<>();
    try (Fenceline fenceline = Fenceline.connect(store.uri())) {
      Once<?, String> once = once(fenceline, store, vanished);
      for (int i = 0; i < KEYS; i++) {
        OnceReport report = once.find(vanished + "-" + i).orElseThrow();
        if (report.state() == OnceReport.State.BEGUN) {
          found.add(report.key());
        }
      }
    }
    return found;
  }

  private static Once<?, String> once(Fenceline fenceline, TestStore store, Vanished vanished) {
    String name = "killed";
    return switch (store) {
      case REDIS -> Once.of(fenceline, name, Kind.redis(store.uri()), Codec.text(), vanished);
      default -> Once.of(fenceline, name, Kind.sql(url(store)), Codec.text(), vanished);
    };
  }

  private static String url(TestStore store) {
    return store == TestStore.SQLITE ? Kind.jdbc(store.uri()) : store.uri();
  }

  private static synchronized void prepare(TestStore store) throws SQLException {
    if (store == TestStore.REDIS) {
      return;
    }
    Kind.sql(url(store));
    try (Connection connection = new Kind.Plain(url(store)).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS had (name varchar(99), token bigint)");
    }
  }

  private static Map<String, Integer> effects(TestStore store, Vanished vanished)
      throws SQLException {
    Map<String, Integer> found = new HashMap<>();
    if (store == TestStore.REDIS) {
      RedisClient client = RedisClient.create(store.uri());
      try (StatefulRedisConnection<String, String> connection = client.connect()) {
        for (int i = 0; i < KEYS; i++) {
          long count = connection.sync().llen("effects:" + vanished + "-" + i);
          if (count > 0) {
            found.put(vanished + "-" + i, (int) count);
          }
        }
      }
      client.shutdown();
      return found;
    }
    try (Connection connection = new Kind.Plain(url(store)).getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT name, count(*) FROM had WHERE name LIKE '"
                    + vanished
                    + "-%' GROUP BY name")) {
      while (rows.next()) {
        found.put(rows.getString(1), rows.getInt(2));
      }
    }
    return found;
  }
}
