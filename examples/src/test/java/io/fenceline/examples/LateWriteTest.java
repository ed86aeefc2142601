package io.fenceline.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.StaleTokenException;
import io.fenceline.settings.HandOff;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A write that was sent in time, by a holder, and arrives after the next holder's. */
@Execution(ExecutionMode.CONCURRENT)
class LateWriteTest {
  private static final Duration AMPLE = Duration.ofSeconds(90);

  static Stream<Store> withServers() {
    return Stream.of(Store.values()).filter(Store::hasServer);
  }

  /** Who has the lock next, given the one that has it now. */
  private interface Succession {
    Hold next(Hold current) throws Exception;
  }

  @ParameterizedTest
  @MethodSource("withServers")
  void writeThatArrivesAfterTheNextHoldersWrite_isRefused(Store store) throws Exception {
    Store.Running running = store.running();
    try (Fenceline client1 = running.connect();
        Fenceline client2 = running.connect()) {
      Hold first = client1.lock("late").acquire(AMPLE);
      play(
          running,
          "late",
          first,
          current -> {
            current.release();
            return client2.lock("late").acquire(AMPLE);
          });
    }
  }

  @ParameterizedTest
  @MethodSource("withServers")
  void lockHandedOverBetweenTwoThreadsOfOneProcess_isFencedToo(Store store) throws Exception {
    Store.Running running = store.running();
    try (Fenceline client = running.client().handOff(new HandOff(32, AMPLE)).connect()) {
      Hold first = client.lock("handed").acquire(AMPLE);
      Hold second =
          play(
              running,
              "handed",
              first,
              current -> {
                CompletableFuture<Hold> waiting = client.lock("handed").acquireAsync(AMPLE);
                current.release();
                return waiting.get(60, TimeUnit.SECONDS);
              });
      // The store knows of one grant only: that its node or key is there proves nothing.
      assertThat(second.token() >> 8).isEqualTo(first.token() >> 8);
      second.release();
    }
  }

  /** Sends writes of the first holder that arrive after those of the second. */
  private static Hold play(Store.Running running, String name, Hold first, Succession succession)
      throws Exception {
    String fenced = name + "-fenced";
    String open = name + "-open";
    ExecutorService threads = Executors.newCachedThreadPool();
    try (FaultProxy proxy = running.proxy();
        Resource direct = Resource.open(running.resource());
        Resource slowFenced = Resource.open(running.resourceBehind(proxy));
        Resource slowOpen = Resource.open(running.resourceBehind(proxy))) {
      direct.prepare(List.of(fenced, open));
      slowFenced.writeFenced(fenced, "1 first", first.fencingToken());
      slowOpen.writeOpen(open, "1 first");
      // Lifted whatever happens: a driver's close waits for the write that is on its way.
      try (Fault stalled = proxy.stall(Direction.TO_SERVER)) {
        CompletableFuture<Void> lateFenced =
            CompletableFuture.runAsync(
                () -> write(() -> slowFenced.writeFenced(fenced, "1 late", first.fencingToken())),
                threads);
        CompletableFuture<Void> lateOpen =
            CompletableFuture.runAsync(
                () -> write(() -> slowOpen.writeOpen(open, "1 late")), threads);
        assertThat(first.isValid()).as("sent in time").isTrue();
        Eventually.until(
            AMPLE, "both writes to be on their way", () -> stalled.timesApplied() >= 2);

        Hold second = succession.next(first);
        assertThat(second.token()).isGreaterThan(first.token());
        direct.writeFenced(fenced, "2", second.fencingToken());
        direct.writeOpen(open, "2");
        assertThat(lateFenced).isNotDone();
        assertThat(lateOpen).isNotDone();
        stalled.lift();

        assertThatThrownBy(() -> lateFenced.get(60, TimeUnit.SECONDS))
            .hasCauseInstanceOf(StaleTokenException.class);
        lateOpen.get(60, TimeUnit.SECONDS);
        assertThat(direct.read(fenced)).isEqualTo("2");
        assertThat(direct.read(open)).as("the damage").isEqualTo("1 late");
        assertThat(FencingToken.exclusive(second.token())).isEqualTo(second.fencingToken());
        return second;
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private interface Write {
    void run() throws Exception;
  }

  private static void write(Write write) {
    try {
      write.run();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
