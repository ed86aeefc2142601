package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.LockWorker;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testbed.server.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Holders and waiters that die or stand still, as processes of their own. */
class ProcessFaultTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  private static RedisServer redis;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  private static JavaProcess worker(String name, Duration lease) {
    JavaProcess worker =
        JavaProcess.of(LockWorker.class)
            .argument(redis.uri())
            .argument(name)
            .argument(Long.toString(lease.toMillis()))
            .start();
    worker.expect("ready", Clients.AMPLE);
    worker.send("acquire");
    return worker;
  }

  @Test
  void waiterKilledAtTheMomentItIsGranted_costsTheHandOverTime_notItsLease() {
    Fenceline client = clients.connect(redis.uri(), LONG);
    Fenceline next = clients.connect(redis.uri(), LONG);
    Hold hold = Clients.acquire(client, "killed");
    try (JavaProcess worker = worker("killed", LONG)) {
      Clients.awaitWaiters(client, "killed", 1);
      CompletableFuture<Hold> waiting = next.lock("killed").acquireAsync(Clients.AMPLE);
      Clients.awaitWaiters(client, "killed", 2);

      worker.kill();
      hold.release();

      // The fault: the lock was handed to the dead process.
      assertThat(client.inspect("killed").holders())
          .singleElement()
          .satisfies(holder -> assertThat(holder.label()).isEqualTo("worker"));
      assertThat(worker.state()).isEqualTo(ProcessState.GONE);
      long start = System.nanoTime();
      Hold got = Clients.get(waiting);
      assertThat(got.token()).isGreaterThan(hold.token());
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }
  }

  @Test
  void deadWaiters_arePassedOver() {
    Fenceline client = clients.connect(redis.uri(), LONG);
    Hold hold = Clients.acquire(client, "dead");
    try (JavaProcess worker = worker("dead", LONG)) {
      Clients.awaitWaiters(client, "dead", 1);

      worker.kill();

      Clients.awaitWaiters(client, "dead", 0);
    }
    hold.release();
    Clients.awaitFree(client, "dead", Clients.AMPLE);
  }

  @Test
  void holderStoppedPastItsLease_knowsItAsSoonAsItRuns() {
    Duration lease = Duration.ofSeconds(2);
    Fenceline client = clients.connect(redis.uri(), lease);
    try (JavaProcess worker = worker("stopped", lease)) {
      long stale = Long.parseLong(worker.expect("acquired", Clients.AMPLE).split(" ")[1]);

      worker.pause();
      assertThat(worker.state()).isEqualTo(ProcessState.STOPPED);
      Hold next = Clients.acquire(client, "stopped");
      worker.resume();
      worker.send("valid");

      assertThat(worker.expectAll(Clients.AMPLE, "valid", "lost"))
          .containsExactly("valid false", "lost " + stale);
      assertThat(next.token()).isGreaterThan(stale);
      assertThat(next.isValid()).isTrue();
      assertThat(client.inspect("stopped").holders().get(0).id()).isEqualTo(next.id());
    }
  }
}
