package io.fenceline.recipes.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.recipes.once.Codec;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Processes that ask for one cold key. */
class LoadProcessesTest {
  /** {@code ./check --long} has eight, with 32 threads each. */
  private static final int PROCESSES = Integer.getInteger("fenceline.cache.processes", 3);

  private static final int THREADS = 4 * PROCESSES;
  private static final Duration AMPLE = Duration.ofMinutes(3);

  private static JavaProcess worker(RedisServer redis, String name, int threads, Duration lease) {
    return JavaProcess.of(LoadWorker.class)
        .argument(redis.uri())
        .argument(name)
        .argument(Integer.toString(threads))
        .argument(Long.toString(lease.toMillis()))
        .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
        .heap(64)
        .start();
  }

  @Test
  void ofAllThreadsOfAllProcesses_oneLoads() {
    List<JavaProcess> workers = new ArrayList<>();
    try (RedisServer redis = RedisServer.start()) {
      for (int i = 0; i < PROCESSES; i++) {
        workers.add(worker(redis, "worker-" + i, THREADS, Duration.ofMinutes(1)));
      }
      workers.forEach(worker -> worker.expect("ready", AMPLE));
      workers.forEach(worker -> worker.send(""));
      for (JavaProcess worker : workers) {
        for (int i = 0; i < THREADS; i++) {
          assertThat(worker.expect("got ", AMPLE)).isEqualTo("got 1");
        }
      }
      assertThat(redis.command("GET", "loads:cold")).isEqualTo("1");
    } finally {
      workers.forEach(JavaProcess::close);
    }
  }

  /** Two loads, since the first loader's lease is over; the newer value stays. */
  @Test
  void loaderThatIsStoppedPastItsLease_cantPutItsOlderValue() throws Exception {
    Duration lease = Duration.ofSeconds(2);
    try (RedisServer redis = RedisServer.start();
        JavaProcess slow = worker(redis, "slow", 1, lease)) {
      slow.expect("ready", AMPLE);
      slow.send("");
      slow.expect("loads 1", AMPLE);
      slow.pause();
      RedisClient client = RedisClient.create(redis.uri());
      try (Fenceline fenceline = Fenceline.connect(redis.uri())) {
        LoadOnceCache<String> cache =
            LoadOnceCache.of(
                    fenceline, "workers", Codec.text(), Duration.ofMinutes(10), CacheFallback.FAIL)
                .shared(RedisTier.over(client.connect(ByteArrayCodec.INSTANCE)))
                .lease(lease)
                .localLimit(0)
                .waiting(AMPLE);
        assertThat(cache.get("cold", key -> "newer")).isEqualTo("newer");
        slow.resume();
        slow.send("");
        assertThat(slow.expect("got ", AMPLE)).as("its own is older").isEqualTo("got newer");
        assertThat(cache.get("cold", key -> "third load")).isEqualTo("newer");
      }
      client.shutdown();
    }
  }
}
