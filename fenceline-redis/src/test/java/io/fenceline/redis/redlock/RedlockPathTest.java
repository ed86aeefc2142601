package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.LockWorker;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Frame;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Ways to the nodes of a Redlock that are slow or lose things, and clients that stand still. */
class RedlockPathTest {
  private static final Duration LEASE = Duration.ofSeconds(4);

  private static RedlockServers nodes;
  private static final List<FaultProxy> PROXIES = new ArrayList<>();

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    nodes = RedlockServers.start(5);
    for (RedisServer node : nodes.all()) {
      PROXIES.add(FaultProxy.to(node.host(), node.port(), Protocol.RESP));
      for (Script script : Script.values()) { // So that each call is one command that acts.
        node.command("SCRIPT", "LOAD", new String(script.body(), StandardCharsets.US_ASCII));
      }
    }
  }

  @AfterEach
  void heal() {
    PROXIES.forEach(FaultProxy::heal);
  }

  @AfterAll
  static void stop() {
    PROXIES.forEach(FaultProxy::close);
    PROXIES.clear();
    nodes.close();
  }

  private static String uri() {
    return RedlockServers.uri(PROXIES.stream().map(FaultProxy::address).toList());
  }

  private static Predicate<Frame> calls(Script script) {
    String hash = new String(script.hash(), StandardCharsets.US_ASCII);
    return frame -> frame.contains(hash);
  }

  @Test
  void oneNodeSlowerThanItsTimeout_isNotWaitedFor() {
    Fenceline client = clients.connect(uri(), LEASE);
    Fenceline other = clients.connect(nodes.uri(), LEASE);
    Hold before = Clients.acquire(client, "slow");
    before.release();
    Fault slow = PROXIES.get(2).delay(Direction.TO_CLIENT, Duration.ofSeconds(2));

    long start = System.nanoTime();
    Hold hold = Clients.acquire(client, "slow");
    ReleaseOutcome released = hold.release();
    long took = System.nanoTime() - start;

    // The others may have been enough before this one had anything to say.
    Eventually.until(Clients.AMPLE, "its answer to be late", () -> slow.timesApplied() > 0);
    assertThat(Duration.ofNanos(took)).isLessThan(Duration.ofSeconds(2));
    assertThat(released).isEqualTo(ReleaseOutcome.RELEASED);
    assertThat(hold.token()).isGreaterThan(before.token());
    assertThat(Clients.acquire(other, "slow").token()).isGreaterThan(hold.token());
  }

  @Test
  void repliesLostFromTwo_theOthersAreEnough_andNothingStays() {
    Fenceline client = clients.connect(uri(), LEASE);
    Fenceline other = clients.connect(nodes.uri(), LEASE);
    List<Fault> lost = new ArrayList<>();
    for (int index : new int[] {1, 4}) {
      lost.add(PROXIES.get(index).dropReply(Trigger.every(calls(Script.REDLOCK_CLAIM))));
    }

    Hold hold = Clients.acquire(client, "lost");

    Eventually.until(
        Clients.AMPLE,
        "both replies to be lost",
        () -> lost.stream().allMatch(fault -> fault.timesApplied() > 0));
    assertThat(other.lock("lost").tryAcquire()).isEmpty();
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
    assertThat(Clients.acquire(other, "lost").token()).isGreaterThan(hold.token());
  }

  @Test
  void repliesLostFromThree_theClaimIsUndone_andTheNameIsFree() {
    Fenceline client = clients.connect(uri(), LEASE);
    Fenceline other = clients.connect(nodes.uri(), LEASE);
    List<Fault> lost = new ArrayList<>();
    for (int index : new int[] {0, 1, 4}) {
      lost.add(PROXIES.get(index).dropReply(Trigger.every(calls(Script.REDLOCK_CONFIRM))));
    }

    assertThatThrownBy(() -> client.lock("undone").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);

    Eventually.until(
        Clients.AMPLE,
        "both replies to be lost",
        () -> lost.stream().allMatch(fault -> fault.timesApplied() > 0));
    Clients.awaitFree(other, "undone", LEASE.multipliedBy(2).plus(Clients.AMPLE));
    assertThat(Clients.acquire(other, "undone").isValid()).isTrue();
  }

  @Test
  void majorityThatGrantedAndDidNotConfirm_isNotSaidToBeMissing() {
    Fenceline client =
        clients.connect(
            Fenceline.builder()
                .store(uri())
                .operationTimeout(Duration.ofSeconds(3)) // One attempt takes 2 s, so there is one.
                .defaultOptions(LockOptions.defaults().lease(Duration.ofSeconds(40))));
    for (int index : new int[] {0, 1, 4}) {
      PROXIES.get(index).dropReply(Trigger.every(calls(Script.REDLOCK_CONFIRM)));
    }

    assertThatThrownBy(() -> client.lock("unconfirmed").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(
            "Lock 'unconfirmed' was granted, but not confirmed by a majority of nodes, needed 3 of 5: ");
  }

  // Clients that stand still. -------------------------------------------------------------------

  private static JavaProcess worker(String name) {
    JavaProcess worker =
        JavaProcess.of(LockWorker.class)
            .argument(uri())
            .argument(name)
            .argument(Long.toString(LEASE.toMillis()))
            .start();
    worker.expect("ready", Clients.AMPLE);
    return worker;
  }

  /** A client that stands still after nodes have answered its n-th round, until others were in. */
  private void stopsAfter(Script round, String name) {
    Fenceline other = clients.connect(nodes.uri(), LEASE);
    try (JavaProcess worker = worker(name)) {
      List<Fault> held =
          PROXIES.stream().map(proxy -> proxy.holdReply(Trigger.every(calls(round)))).toList();

      worker.send("acquire");
      Eventually.until(
          Clients.AMPLE,
          "a majority to have answered",
          () -> held.stream().filter(fault -> fault.timesApplied() > 0).count() >= 3);
      worker.pause();
      assertThat(worker.state()).isEqualTo(ProcessState.STOPPED);
      Hold next = Clients.acquire(other, name); // When the lease of the stopped one is over.
      held.forEach(Fault::lift);
      worker.resume();
      // The answers that it finds now are of an attempt whose time is over.
      Eventually.until(
          Clients.AMPLE,
          "the stopped one to try again",
          () -> other.inspect(name).holders().size() == 1 && worker.pendingLines().isEmpty());
      assertThat(next.isValid()).isTrue();
      assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);

      long token = Long.parseLong(worker.expect("acquired", Clients.AMPLE).split(" ")[1]);
      assertThat(token).isGreaterThan(next.token());
    }
  }

  @Test
  void clientStoppedBetweenTheRounds_doesNotHoldWhatOthersGotMeanwhile() {
    stopsAfter(Script.REDLOCK_CLAIM, "between");
  }

  @Test
  void clientStoppedAfterTheSecondRound_doesNotHoldWhatOthersGotMeanwhile() {
    stopsAfter(Script.REDLOCK_CONFIRM, "after");
  }

  @Test
  void holderStoppedPastItsLease_knowsItAsSoonAsItRuns() {
    Fenceline other = clients.connect(nodes.uri(), LEASE);
    try (JavaProcess worker = worker("stopped")) {
      worker.send("acquire");
      long stale = Long.parseLong(worker.expect("acquired", Clients.AMPLE).split(" ")[1]);

      worker.pause();
      assertThat(worker.state()).isEqualTo(ProcessState.STOPPED);
      Hold next = Clients.acquire(other, "stopped");
      worker.resume();
      worker.send("valid");

      assertThat(worker.expect("valid", Clients.AMPLE)).isEqualTo("valid false");
      assertThat(next.token()).isGreaterThan(stale);
      assertThat(next.isValid()).isTrue();
      assertThat(other.inspect("stopped").holders().get(0).id()).isEqualTo(next.id());
    }
  }
}
