package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.redis.support.Clients;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.server.NeedsValkey;
import io.fenceline.testbed.server.RedisKind;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Eight clients in four processes, while nodes are killed and restarted at random: the history of
 * their holds shows tokens that rise in real time, and holds that do not overlap.
 *
 * <p>How many acquisitions is set by {@code -Dfenceline.redlock.acquisitions}.
 */
class RedlockStormTest {
  private static final int ACQUISITIONS =
      Integer.getInteger("fenceline.redlock.acquisitions", 2000);
  private static final int PROCESSES = 4;
  private static final int NAMES = 4;
  private static final Duration LEASE = Duration.ofSeconds(3);

  /** A hold, with times of the machine's monotonic clock, which all processes share. */
  private record Held(
      String name, long token, long acquired, long ended, boolean valid, boolean accepted) {
    static Held parse(String line) {
      String[] parts = line.split(" ");
      return new Held(
          parts[1],
          Long.parseLong(parts[2]),
          Long.parseLong(parts[3]),
          Long.parseLong(parts[4]),
          Boolean.parseBoolean(parts[5]),
          parts[6].equals("1"));
    }
  }

  @Test
  void nodesKilledAndRestartedAtRandom_tokensRise_andHoldsDoNotOverlap() {
    storm(RedisKind.REDIS, ACQUISITIONS);
  }

  @Test
  @NeedsValkey
  void nodesOfValkey_tokensRise_andHoldsDoNotOverlap() {
    storm(RedisKind.VALKEY, ACQUISITIONS / 4);
  }

  private static void storm(RedisKind kind, int acquisitions) {
    long seed = new Random().nextLong();
    long start = System.nanoTime();
    List<JavaProcess> workers = new ArrayList<>();
    try (RedlockServers nodes = RedlockServers.start(kind, 5);
        RedisServer guarded = RedisServer.start()) {
      int kills = 0;
      try {
        for (int i = 0; i < PROCESSES; i++) {
          workers.add(
              JavaProcess.of(RedlockWorker.class)
                  .argument(nodes.uri())
                  .argument(guarded.uri())
                  .argument(Integer.toString(acquisitions / PROCESSES))
                  .argument(Integer.toString(NAMES))
                  .argument(Long.toString(LEASE.toMillis()))
                  .start());
        }
        awaitHolds(workers, 1);
        Random random = new Random(seed);
        while (workers.stream().anyMatch(JavaProcess::isAlive)) {
          kills += strike(nodes, random);
        }
      } finally {
        workers.forEach(JavaProcess::close);
      }
      check(
          acquisitions, workers, guarded, kills, seed, Duration.ofNanos(System.nanoTime() - start));
    }
  }

  private static void awaitHolds(List<JavaProcess> workers, int count) {
    Eventually.until(
        Clients.AMPLE,
        "the storm to begin",
        () -> workers.stream().allMatch(worker -> worker.pendingLines().size() >= count));
  }

  /** Kills one or two nodes and starts them again, empty; then lets them come back to vote. */
  private static int strike(RedlockServers nodes, Random random) {
    List<RedisServer> victims = new ArrayList<>();
    int count = 1 + random.nextInt(2);
    while (victims.size() < count) {
      RedisServer victim = nodes.get(random.nextInt(5));
      if (!victims.contains(victim)) {
        victims.add(victim);
      }
    }
    victims.forEach(RedisServer::kill);
    pause(random.nextInt(500));
    victims.forEach(RedisServer::restart);
    pause(LEASE.toMillis() * 3 / 4 + random.nextInt(2_000));
    return count;
  }

  private static void pause(long millis) {
    long start = System.nanoTime();
    Eventually.until(
        Clients.AMPLE,
        "a while to pass",
        () -> System.nanoTime() - start >= Duration.ofMillis(millis).toNanos());
  }

  private static void check(
      int acquisitions,
      List<JavaProcess> workers,
      RedisServer guarded,
      int kills,
      long seed,
      Duration took) {
    List<String> lines = workers.stream().flatMap(w -> w.pendingLines().stream()).toList();
    List<Held> history =
        lines.stream().filter(line -> line.startsWith("hold ")).map(Held::parse).toList();
    int failures =
        lines.stream()
            .filter(line -> line.startsWith("done "))
            .mapToInt(line -> Integer.parseInt(line.substring(5)))
            .sum();
    Map<String, List<Held>> byName = new TreeMap<>();
    history.forEach(held -> byName.computeIfAbsent(held.name, n -> new ArrayList<>()).add(held));
    long late = history.stream().filter(held -> !held.valid).count();
    System.out.printf(
        "Redlock storm: %d acquisitions in %s, %d kills, %d acquires failed, %d holds lost, seed %d%n",
        history.size(), took, kills, failures, late, seed);
    assertThat(history).hasSize(acquisitions / PROCESSES / 2 * 2 * PROCESSES);
    assertThat(kills).as("the faults").isPositive();
    byName.forEach(RedlockStormTest::assertInOrder);
    byName.keySet().forEach(name -> assertGuarded(name, guarded));
    assertThat(history)
        .as("writes of holders that were in time, seed %d", seed)
        .filteredOn(held -> held.valid && !held.accepted)
        .isEmpty();
  }

  /** Whoever was granted after another one had ended has the larger token; nobody has the same. */
  private static void assertInOrder(String name, List<Held> history) {
    Set<Long> tokens = new HashSet<>();
    history.forEach(held -> assertThat(tokens.add(held.token)).as("%s is unique", held).isTrue());
    List<Held> byEnd = history.stream().sorted(Comparator.comparingLong(Held::ended)).toList();
    List<Held> byStart = history.stream().sorted(Comparator.comparingLong(Held::acquired)).toList();
    Held largest = null;
    int ended = 0;
    for (Held held : byStart) {
      while (byEnd.get(ended).ended < held.acquired) {
        Held over = byEnd.get(ended++);
        largest = largest == null || over.token > largest.token ? over : largest;
      }
      if (largest != null) {
        assertThat(held.token)
            .as("%s was granted after %s had ended", held, largest)
            .isGreaterThan(largest.token);
      }
    }
    for (int i = 1; i < byStart.size(); i++) {
      Held before = byStart.get(i - 1);
      Held held = byStart.get(i);
      assertThat(before.valid && held.valid && held.acquired < before.ended)
          .as("%s overlaps %s", before, held)
          .isFalse();
    }
  }

  private static void assertGuarded(String name, RedisServer guarded) {
    List<?> accepted = (List<?>) guarded.command("LRANGE", name + ":log", "0", "-1");
    List<Long> tokens = accepted.stream().map(t -> Long.parseLong(String.valueOf(t))).toList();
    assertThat(tokens).as("accepted writes of %s", name).isSorted().doesNotHaveDuplicates();
  }
}
