package io.fenceline.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.MemoryFence;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What fences are for: client 1 takes the lock and is stopped past its lease, client 2 takes it and
 * writes, client 1 continues and writes.
 */
@Execution(ExecutionMode.CONCURRENT)
class PausedWriterTest {
  private static final Duration AMPLE = Duration.ofSeconds(90);

  @ParameterizedTest
  @EnumSource
  void processStoppedPastItsLease_isRefusedByTheFence_andDoesDamageWithoutIt(Store store)
      throws Exception {
    Store.Running running = store.running();
    try (Resource resource = Resource.open(running.resource());
        Fenceline client2 = running.connect()) {
      resource.prepare(List.of("fenced", "open"));
      try (JavaProcess client1 =
          JavaProcess.of(Writer.class)
              .argument(running.locks())
              .argument(Long.toString(Store.LEASE.toMillis()))
              .argument(running.resource())
              .jvmOption("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
              .start()) {
        long token1 = Long.parseLong(client1.expect("token", AMPLE).split(" ")[1]);
        client1.pause();
        assertThat(client1.state()).isEqualTo(ProcessState.STOPPED);

        try (Hold hold = client2.lock("ledger").acquire(AMPLE)) {
          assertThat(hold.token()).isGreaterThan(token1);
          resource.writeFenced("fenced", "2", hold.fencingToken());
          resource.writeOpen("open", "2");
          assertThat(client1.state()).isEqualTo(ProcessState.STOPPED);
          client1.resume();
          client1.send("go on");

          assertThat(client1.expect("valid", AMPLE)).isEqualTo("valid false");
          client1.expect("open written", AMPLE);
          assertThat(client1.expect("fenced", AMPLE))
              .isEqualTo("fenced refused by " + hold.token());
          assertThat(resource.read("fenced")).isEqualTo("2");
          assertThat(resource.read("open")).as("the damage").isEqualTo("1 too late");
        }
      }
    }
  }

  /** In one process there is nothing to stop but a thread, and no time but that of the test. */
  @Test
  void threadThatWakesUpAfterItsLease_inMemory() throws Exception {
    ManualTime time = new ManualTime();
    MemorySpace space = MemorySpace.create(time::wallMillis);
    MemoryFence fence = new MemoryFence();
    Map<String, String> data = new HashMap<>();
    LockOptions options = LockOptions.defaults().fixedLease(Store.LEASE);
    CountDownLatch awake = new CountDownLatch(1);
    try (Fenceline client1 =
            Fenceline.builder()
                .store(space.factory())
                .time(time)
                .defaultOptions(options)
                .connect();
        Fenceline client2 =
            Fenceline.builder()
                .store(space.factory())
                .time(time)
                .defaultOptions(options)
                .connect();
        Hold stale = client1.lock("ledger").tryAcquire().orElseThrow()) {
      CompletableFuture<Void> sleeper =
          CompletableFuture.runAsync(
              () -> {
                awaitQuietly(awake);
                synchronized (data) {
                  data.put("open", "1 too late");
                  fence.check("fenced", stale.fencingToken());
                  data.put("fenced", "1 too late");
                }
              });
      time.advance(Store.LEASE.plusMillis(1));
      assertThat(stale.isValid()).isFalse();
      try (Hold hold = client2.lock("ledger").tryAcquire().orElseThrow()) {
        synchronized (data) {
          fence.check("fenced", hold.fencingToken());
          data.putAll(Map.of("fenced", "2", "open", "2"));
        }
      }
      awake.countDown();

      assertThatThrownBy(() -> sleeper.get(60, TimeUnit.SECONDS))
          .hasCauseInstanceOf(StaleTokenException.class);
      assertThat(data).containsEntry("fenced", "2").containsEntry("open", "1 too late");
      assertThat(FencingToken.exclusive(stale.token())).isEqualTo(stale.fencingToken());
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
