package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.support.Clients;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** How nodes of a Redlock that were restarted or emptied come to vote again, and when not yet. */
@Execution(ExecutionMode.CONCURRENT)
class RedlockRecoveryTest {
  private static final Duration SHORT = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final String NAME = "ledger";
  private static final String KEY = "fl1:r:" + NAME;

  @RegisterExtension final Clients clients = new Clients();

  private static boolean votes(RedisServer node) {
    return node.info("run_id").equals(node.command("HGET", "fl1:r!", "run"));
  }

  private static Stream<Hold> tryTo(Fenceline client) {
    try {
      return client.lock(NAME).tryAcquire().stream();
    } catch (StoreUnavailableException e) {
      return Stream.empty(); // Too few nodes vote: that is an answer, too.
    }
  }

  private static void restart(RedisServer node) {
    node.kill();
    node.restart();
    assertThat(votes(node)).isFalse();
  }

  /** Others get and release locks until the node votes again: no more than that should it take. */
  private static void awaitVote(Fenceline client, RedisServer node) {
    Eventually.until(
        Clients.AMPLE,
        "a restarted node to vote again while claims succeed",
        () -> {
          Clients.acquire(client, "short").release();
          return votes(node);
        });
  }

  @Test
  void restartedNode_votesAgain_thoughEveryClaimSucceedsWithoutIt() {
    try (RedlockServers nodes = RedlockServers.start(3)) {
      Fenceline client = clients.connect(nodes.uri(), SHORT);
      Clients.acquire(client, "short").release();

      restart(nodes.get(2));
      awaitVote(client, nodes.get(2));

      nodes.get(1).kill(); // One of three: the restarted one is needed now.
      Clients.acquire(client, NAME).release();
      clients.afterEach(null);
    }
  }

  /** Opening does not wait for ever for what nodes remember, but somebody has to. */
  @Test
  void clientThatWasOpenedBeforeItHadAnswers_takesCareOfNodesThatForgetLater() {
    try (RedlockServers nodes = RedlockServers.start(3);
        FaultProxy one = FaultProxy.to("127.0.0.1", nodes.get(0).port(), Protocol.RESP);
        FaultProxy two = FaultProxy.to("127.0.0.1", nodes.get(1).port(), Protocol.RESP)) {
      clients.connect(nodes.uri(), SHORT); // From now on all vote, and know the scripts.
      List<Fault> held =
          Stream.of(one, two)
              .map(way -> way.holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_SURVEY))))
              .toList();
      String uri =
          RedlockServers.uri(List.of(one.address(), two.address(), nodes.get(2).address()));

      Fenceline client = clients.connect(uri, SHORT);
      assertThat(held).allSatisfy(fault -> assertThat(fault.timesApplied()).isPositive());
      held.forEach(Fault::lift);
      clients.closeAllBut(client); // Nobody else shall help.
      restart(nodes.get(2));

      awaitVote(client, nodes.get(2));
      clients.afterEach(null);
    }
  }

  /** One lease of three seconds, so that there is time between the decision and its end. */
  @Test
  void nodeWhoseWaitIsOver_votes_thoughThoseThatRememberAreGone() {
    Duration lease = Duration.ofSeconds(3);
    try (RedlockServers nodes = RedlockServers.start(3)) {
      Fenceline client = clients.connect(nodes.uri(), lease);
      Hold hold =
          client.lock("short", LockOptions.defaults().fixedLease(lease)).tryAcquire().orElseThrow();
      assertThat(hold.isValid()).isTrue();
      restart(nodes.get(2));
      Eventually.until(
          Clients.AMPLE,
          "the node to know all that it needs",
          () -> {
            tryTo(client).forEach(Hold::release);
            return "1".equals(nodes.get(2).command("HGET", "fl1:r!", "counted"))
                || votes(nodes.get(2));
          });

      nodes.get(1).kill();

      Eventually.until(
          Clients.AMPLE,
          "the node to vote",
          () -> {
            tryTo(client).forEach(Hold::release);
            return votes(nodes.get(2));
          });
      Clients.acquire(client, NAME).release();
      clients.afterEach(null);
    }
  }

  @Test
  void nodeThatIsSlowerThanItsTimeout_votesAgain() {
    try (RedlockServers nodes = RedlockServers.start(3);
        FaultProxy slow = FaultProxy.to("127.0.0.1", nodes.get(2).port(), Protocol.RESP)) {
      List<String> addresses = new ArrayList<>(nodes.all().stream().map(n -> n.address()).toList());
      addresses.set(2, slow.address());
      Fenceline client =
          clients.connect(
              RedlockServers.uri(addresses).replace("nodeTimeout=1s", "nodeTimeout=50ms"), SHORT);
      slow.delay(Direction.TO_CLIENT, Duration.ofMillis(200));

      nodes.get(2).command("FLUSHALL");

      Eventually.until(
          Clients.AMPLE,
          "the slow node to vote again",
          () -> {
            tryTo(client).forEach(Hold::release);
            return votes(nodes.get(2));
          });
      clients.afterEach(null);
    }
  }

  /** How long a node does not vote, by its own clock; negative if nobody has said so. */
  private static long waits(RedisServer node) {
    Object until = node.command("HGET", "fl1:r!", "until");
    List<?> time = (List<?>) node.command("TIME");
    return until == null
        ? -1
        : Long.parseLong(until.toString()) - Long.parseLong(time.get(0).toString()) * 1_000;
  }

  /**
   * A client that knows of a lease, and can be kept from the nodes: if it looked at them beside the
   * stranger, it would say itself for how long they have to wait.
   */
  private static final class Shielded implements AutoCloseable {
    private final List<FaultProxy> ways;

    Shielded(RedlockServers nodes) {
      ways =
          nodes.all().stream()
              .map(node -> FaultProxy.to(node.host(), node.port(), Protocol.RESP))
              .toList();
    }

    String uri() {
      return RedlockServers.uri(ways.stream().map(FaultProxy::address).toList());
    }

    void cutOff() {
      ways.forEach(FaultProxy::refuseConnections);
      ways.forEach(FaultProxy::closeAll);
    }

    void heal() {
      ways.forEach(FaultProxy::heal);
    }

    @Override
    public void close() {
      ways.forEach(FaultProxy::close);
    }
  }

  @Test
  void waitThatAStrangerGuessed_getsLongerByWhatAnotherClientKnows() {
    try (RedlockServers nodes = RedlockServers.start(5);
        Shielded shielded = new Shielded(nodes)) {
      Fenceline holder = clients.connect(shielded.uri(), LONG);
      Hold hold = Clients.acquire(holder, NAME);
      shielded.cutOff();
      List<Integer> restarted = List.of(2, 3, 4);
      restarted.forEach(index -> restart(nodes.get(index)));
      assertNothingForAStranger(nodes, hold);
      awaitGuess(nodes, restarted);
      shielded.heal();

      // The holder meets them, and knows for how long it holds the lock.
      Eventually.until(
          Clients.AMPLE,
          "the nodes to wait for the holder's lease",
          () -> {
            assertThatThrownBy(() -> holder.lock("other").tryAcquire())
                .isInstanceOf(StoreUnavailableException.class);
            return restarted.stream().allMatch(index -> waits(nodes.get(index)) > 300_000);
          });
      clients.afterEach(null);
    }
  }

  @Test
  void threeOfFiveRestartedInTurn_aNewClientThatReachesOnlyThose_waits() {
    try (RedlockServers nodes = RedlockServers.start(5)) {
      Fenceline client = clients.connect(nodes.uri(), SHORT);
      Fenceline holder = clients.connect(nodes.uri(), LONG);
      for (int restarted : new int[] {2, 3}) {
        restart(nodes.get(restarted));
        awaitVote(client, nodes.get(restarted));
      }
      Hold hold = Clients.acquire(holder, NAME);

      restart(nodes.get(4));

      assertNothingForAStranger(nodes, hold);
      clients.afterEach(null);
    }
  }

  /** More than a minority has lost its memory, and those that remember can't be asked. */
  @Test
  void threeOfFiveRestartedAtOnce_aNewClientThatReachesOnlyThose_waits() {
    try (RedlockServers nodes = RedlockServers.start(5);
        Shielded shielded = new Shielded(nodes)) {
      Fenceline holder = clients.connect(shielded.uri(), LONG);
      Hold hold = Clients.acquire(holder, NAME);
      shielded.cutOff();

      List<Integer> restarted = List.of(2, 3, 4);
      restarted.forEach(index -> restart(nodes.get(index)));

      assertNothingForAStranger(nodes, hold);
      awaitGuess(nodes, restarted);
      shielded.heal();
      clients.afterEach(null);
    }
  }

  /** Waits until each node was told to wait for a minute: for what nobody knows who was asked. */
  private static void awaitGuess(RedlockServers nodes, List<Integer> restarted) {
    Eventually.until(
        Clients.AMPLE,
        "the stranger's guess",
        () ->
            restarted.stream()
                .allMatch(index -> votes(nodes.get(index)) || waits(nodes.get(index)) > 0));
    assertThat(restarted)
        .allSatisfy(
            index -> assertThat(terms(nodes.get(index))).as("node %d", index).isEqualTo("60000"));
  }

  /** The time for which a node was told to wait. */
  private static String terms(RedisServer node) {
    return String.valueOf(node.command("HGET", "fl1:r!", "wait"));
  }

  /** The lease of the stranger is short: what it knows itself would let the nodes vote at once. */
  private void assertNothingForAStranger(RedlockServers nodes, Hold hold) {
    List<String> addresses = new ArrayList<>(nodes.all().stream().map(n -> n.address()).toList());
    try (FaultProxy away = FaultProxy.to("127.0.0.1", nodes.get(0).port(), Protocol.RESP);
        FaultProxy alsoAway = FaultProxy.to("127.0.0.1", nodes.get(1).port(), Protocol.RESP)) {
      away.refuseConnections();
      alsoAway.refuseConnections();
      addresses.set(0, away.address());
      addresses.set(1, alsoAway.address());
      Fenceline stranger = clients.connect(RedlockServers.uri(addresses), SHORT);

      assertThat(tryTo(stranger)).as("a second holder").isEmpty();
      assertThat(hold.isValid()).isTrue();
    }
  }

  @Test
  void admissionThatArrivesAfterTheNodeForgotAgain_doesNotCount() {
    try (RedlockServers nodes = RedlockServers.start(3);
        FaultProxy way = FaultProxy.to("127.0.0.1", nodes.get(0).port(), Protocol.RESP)) {
      nodes
          .get(0)
          .command(
              "SCRIPT", "LOAD", new String(Script.REDLOCK_ADMIT.body(), StandardCharsets.US_ASCII));
      Fenceline holder = clients.connect(nodes.uri(), LONG);
      Fenceline other = clients.connect(nodes.uri(), LONG);
      List<String> addresses = new ArrayList<>(nodes.all().stream().map(n -> n.address()).toList());
      addresses.set(0, way.address());
      Fenceline slow = clients.connect(RedlockServers.uri(addresses), SHORT);
      Fault late = way.holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_ADMIT)));
      nodes.get(0).command("FLUSHALL");
      awaitStruck(slow, late);
      awaitVote(clients.connect(nodes.uri(), SHORT), nodes.get(0));
      Hold hold = Clients.acquire(holder, NAME);
      Eventually.until(
          Clients.AMPLE,
          "all to have it",
          () -> nodes.all().stream().allMatch(n -> RedlockServers.hasConfirmed(n, NAME)));
      RedlockServers.free(nodes.get(2), NAME);
      nodes.get(0).command("FLUSHALL");

      nodes.get(0).resetCommandCounts();
      late.lift();
      Eventually.until(
          Clients.AMPLE,
          "the late request to be carried out",
          () -> nodes.get(0).commandCount("evalsha") > 0);

      long start = System.nanoTime();
      List<Hold> second = new ArrayList<>();
      Eventually.until(
          Clients.AMPLE,
          "more than the wait that the late request speaks of",
          () -> {
            tryTo(other).forEach(second::add);
            return System.nanoTime() - start > SHORT.multipliedBy(2).toNanos();
          });
      assertThat(second).as("a second holder").isEmpty();
      assertThat(hold.isValid()).isTrue();
      clients.afterEach(null);
    }
  }

  /**
   * What the others know counts only if they were asked after the node had lost its memory. Here
   * they are asked, somebody gets a lock, and the node loses it before it is asked for the first
   * time.
   */
  @Test
  void nodeThatForgetsAfterTheOthersWereAsked_doesNotVoteByWhatTheySaid() {
    try (RedlockServers nodes = RedlockServers.start(5);
        Shielded shielded = new Shielded(nodes)) {
      Fenceline first = clients.connect(nodes.uri(), SHORT);
      Clients.acquire(first, "short").release(); // From now on all vote, and know the scripts.
      Eventually.until(
          Clients.AMPLE, "all to vote", () -> nodes.all().stream().allMatch(n -> votes(n)));
      clients.afterEach(null);
      Fenceline holder = clients.connect(withoutTheFourth(nodes), LONG);
      nodes.get(3).command("FLUSHALL"); // So that there is somebody to be asked about.
      List<Fault> said = new ArrayList<>();
      for (int index = 0; index < 3; index++) {
        Trigger second = Trigger.nth(2, Clients.calls(Script.REDLOCK_SURVEY));
        said.add(shielded.ways.get(index).holdReply(second));
      }
      Fault late =
          shielded.ways.get(4).holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_SURVEY)));

      CompletableFuture<Fenceline> opening =
          CompletableFuture.supplyAsync(() -> clients.connect(patient(shielded)));
      said.forEach(
          fault ->
              Eventually.until(
                  Clients.AMPLE, "the others to be asked", () -> fault.timesApplied() > 0));
      Hold hold = Clients.acquire(holder, NAME);
      Eventually.until(
          Clients.AMPLE,
          "four to have it",
          () ->
              Stream.of(0, 1, 2, 4)
                  .allMatch(index -> RedlockServers.hasConfirmed(nodes.get(index), NAME)));
      RedlockServers.free(nodes.get(2), NAME);
      nodes.get(4).command("FLUSHALL");
      nodes.get(4).resetCommandCounts();
      late.lift();
      Eventually.until(
          Clients.AMPLE,
          "the node to be asked twice",
          () -> nodes.get(4).commandCount("evalsha") > 1);
      said.forEach(Fault::lift);
      Fenceline stranger = Clients.get(opening);

      Eventually.until(
          Clients.AMPLE,
          "a decision about the node",
          () -> votes(nodes.get(4)) || waits(nodes.get(4)) > 0);
      assertThat(votes(nodes.get(4))).isFalse();
      assertThat(tryTo(stranger)).as("a second holder").isEmpty();
      assertThat(hold.isValid()).isTrue();
      clients.afterEach(null);
    }
  }

  private static String withoutTheFourth(RedlockServers nodes) {
    List<String> addresses = new ArrayList<>(nodes.all().stream().map(n -> n.address()).toList());
    try (FaultProxy away = FaultProxy.to("127.0.0.1", nodes.get(3).port(), Protocol.RESP)) {
      addresses.set(3, away.address()); // Closed from now on.
    }
    return RedlockServers.uri(addresses);
  }

  /** Waits for slow nodes for some seconds, and so long again when it asks for the second time. */
  private static FencelineBuilder patient(Shielded shielded) {
    return Fenceline.builder()
        .store(shielded.uri().replace("nodeTimeout=1s", "nodeTimeout=3s"))
        .operationTimeout(Clients.AMPLE)
        .defaultOptions(LockOptions.defaults().lease(SHORT));
  }

  private static void awaitStruck(Fenceline client, Fault fault) {
    Eventually.until(
        Clients.AMPLE,
        fault + " to strike",
        () -> {
          Clients.acquire(client, "short").release();
          return fault.timesApplied() > 0;
        });
  }
}
