package io.fenceline.recipes.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.MemoryFence;
import io.fenceline.recipes.TestStore;
import io.fenceline.recipes.election.Candidate;
import io.fenceline.recipes.election.Election;
import io.fenceline.recipes.election.Leadership;
import io.fenceline.recipes.once.Codec;
import io.fenceline.recipes.once.Once;
import io.fenceline.recipes.once.OnceRefusedException;
import io.fenceline.recipes.once.RedisRecords;
import io.fenceline.recipes.once.Vanished;
import io.fenceline.recipes.once.Work;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testkit.Eventually;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What goes wrong with well-known peers, shown on them, and what ours does then. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class PeersTest {
  private static final Duration AMPLE = Duration.ofMinutes(1);

  /**
   * Curator's {@code LeaderLatch} has {@code hasLeadership()}, whose answer is old when it arrives,
   * and no term to send along: two leaders (apache/curator 980, 1137, 1211).
   */
  @Test
  void leaderLatch_letsAPausedLeaderWrite_afterTheNextOne(@TempDir Path folder) throws Exception {
    URI zooKeeper = URI.create(TestStore.ZOOKEEPER.uri());
    String address = zooKeeper.getHost() + ":" + zooKeeper.getPort();
    Path file = folder.resolve("report");
    try (JavaProcess a = leader(LatchWorker.class, address, file, "A");
        JavaProcess b = leaderAfter(a, LatchWorker.class, address, file)) {
      pausedLeaderWrites(a, b);
      assertThat(Files.readString(file)).as("the report, while B leads").isEqualTo("A");
    }
  }

  /**
   * Spring's {@code LockRegistryLeaderInitiator} asks for its lock again with each heart beat, and
   * says {@code isLeader()} in between: several leaders after a lock that expired (INT-4246 and
   * INT-4248, spring-integration 2098 and 2121). There is no term, either.
   */
  @Test
  void springLeaderInitiator_letsAPausedLeaderWrite_afterTheNextOne(@TempDir Path folder)
      throws Exception {
    Path file = folder.resolve("report");
    String redis = TestStore.REDIS.uri();
    try (JavaProcess a = leader(SpringWorker.class, redis, file, "A");
        JavaProcess b = leaderAfter(a, SpringWorker.class, redis, file)) {
      pausedLeaderWrites(a, b);
      assertThat(Files.readString(file)).as("the report, while B leads").isEqualTo("A");
    }
  }

  private static void pausedLeaderWrites(JavaProcess a, JavaProcess b) {
    a.pause();
    b.expect("leads", AMPLE);
    b.send("write");
    b.expect("wrote", AMPLE);
    a.resume();
    a.send("write");
    a.expect("wrote", AMPLE);
  }

  private static JavaProcess leaderAfter(JavaProcess a, Class<?> worker, String store, Path file) {
    a.expect("leads", AMPLE);
    return leader(worker, store, file, "B");
  }

  private static JavaProcess leader(Class<?> worker, String store, Path file, String name) {
    return JavaProcess.of(worker)
        .argument(store)
        .argument(file.toString())
        .argument(name)
        .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
        .heap(64)
        .start();
  }

  /** The same here, in one process: what an overtaken leader sends is refused by its term. */
  @Test
  void leadership_thatWasOvertaken_isRefusedByItsTerm() throws Exception {
    MemoryFence fence = new MemoryFence();
    try (Fenceline fenceline = Fenceline.connect(TestStore.ZOOKEEPER.uri())) {
      Election election = Election.of(fenceline, "peer").lease(TestStore.LEASE);
      Leadership earlier;
      try (Candidate a = election.campaign()) {
        earlier = a.awaitLeadership(AMPLE).orElseThrow();
      }
      try (Candidate b = election.campaign()) {
        Leadership later = b.awaitLeadership(AMPLE).orElseThrow();
        fence.check("report", later.fencingToken());
        assertThat(earlier.isValid()).isFalse();
        assertThatThrownBy(() -> fence.check("report", earlier.fencingToken()))
            .isInstanceOf(StaleTokenException.class);
      }
    }
  }

  /**
   * {@code SET key NX PX} as a deduplication key: work that takes longer is done twice, and who
   * comes first takes away what the second one has (mhenrixon/sidekiq-unique-jobs 94 and 159, which
   * keeps its jobs apart in this way).
   */
  @Test
  void setNxWithAnExpiry_letsTheWorkBeDoneTwice_andTheFirstOneOverwriteTheSecond() {
    RedisClient client = RedisClient.create(TestStore.REDIS.uri());
    RedisCommands<String, String> redis = client.connect().sync();
    SetArgs once = SetArgs.Builder.nx().px(100);

    assertThat(redis.set("dedup:order", "A", once)).isEqualTo("OK");
    redis.rpush("dedup:charges", "A"); // And is slow from here on.
    Eventually.until(AMPLE, "the expiry", () -> redis.exists("dedup:order") == 0);
    assertThat(redis.set("dedup:order", "B", once)).isEqualTo("OK");
    redis.rpush("dedup:charges", "B");
    redis.set("dedup:receipt", "B");
    redis.set("dedup:receipt", "A"); // The first one goes on.

    assertThat(redis.llen("dedup:charges")).isEqualTo(2);
    assertThat(redis.get("dedup:receipt")).as("the receipt, after B's was given").isEqualTo("A");
    client.shutdown();
  }

  /** The same here: the lease is renewed while the worker lives, and a key in doubt is refused. */
  @Test
  void once_isNotDoneTwice_howeverLongItTakes() throws Exception {
    RedisClient client = RedisClient.create(TestStore.REDIS.uri());
    RedisRecords records = RedisRecords.over(client.connect(ByteArrayCodec.INSTANCE));
    try (Fenceline fenceline = Fenceline.connect(TestStore.REDIS.uri())) {
      Once<Work, String> once =
          Once.of(fenceline, "peer", records, Codec.text(), Vanished.IN_DOUBT)
              .lease(Duration.ofMillis(500))
              .waiting(Duration.ZERO);
      CountDownLatch goOn = new CountDownLatch(1);
      CountDownLatch working = new CountDownLatch(1);
      FutureTask<String> first =
          new FutureTask<>(
              () ->
                  once.call(
                      "order",
                      "EUR 12",
                      work -> {
                        working.countDown();
                        goOn.await();
                        return "A";
                      }));
      new Thread(first).start();
      assertThat(working.await(60, TimeUnit.SECONDS)).isTrue();
      long from = System.nanoTime();
      Eventually.until(
          AMPLE,
          "several leases",
          () -> {
            assertThatThrownBy(() -> once.call("order", "EUR 12", work -> "B"))
                .isInstanceOf(OnceRefusedException.class);
            return System.nanoTime() - from > Duration.ofMillis(1_500).toNanos();
          });
      goOn.countDown();
      assertThat(get(first)).isEqualTo("A");
      assertThat(once.call("order", "EUR 12", work -> "B")).isEqualTo("A");
    } finally {
      client.shutdown();
    }
  }

  private static String get(FutureTask<String> task)
      throws InterruptedException, ExecutionException, java.util.concurrent.TimeoutException {
    return task.get(60, TimeUnit.SECONDS);
  }
}
