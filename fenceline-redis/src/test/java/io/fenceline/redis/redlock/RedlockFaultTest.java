package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.redis.support.Clients;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Nodes of a Redlock that die, forget, or have their clocks set; each test has its own. */
@Execution(ExecutionMode.CONCURRENT)
class RedlockFaultTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final String NAME = "ledger";
  private static final String KEY = "fl1:r:" + NAME;

  @RegisterExtension final Clients clients = new Clients();

  /** More than a lease passes, and the hold is still one. */
  private static void assertSurvives(Hold hold) {
    long start = System.nanoTime();
    Eventually.until(
        Clients.AMPLE,
        "more than a lease to pass",
        () -> System.nanoTime() - start > LEASE.toNanos() * 3 / 2);
    assertThat(hold.isValid()).isTrue();
  }

  /** The next one gets a larger token, and can give the lock back. */
  private static Hold assertNext(Fenceline client, Hold before) {
    Hold next = Clients.acquire(client, NAME);
    assertThat(next.token()).isGreaterThan(before.token());
    return next;
  }

  private static boolean votes(RedisServer node) {
    return node.command("HGET", "fl1:r!", "run") != null;
  }

  @Test
  void acquireAndRelease_areTwoRoundsAndOne() {
    try (RedlockServers nodes = RedlockServers.start(5)) {
      Fenceline client = clients.connect(nodes.uri(), Duration.ofMinutes(5));
      Clients.acquire(client, NAME).release();

      // A majority is enough for the client: what the others still have to hear of an earlier round
      // may be counted with a later one, which is then no measure.
      Eventually.until(Clients.AMPLE, "two rounds and one", () -> takesThreeCalls(client, nodes));
      assertThat(nodes.get(0).commandCounts()).doesNotContainKey("publish");
      clients.afterEach(null);
    }
  }

  private static boolean takesThreeCalls(Fenceline client, RedlockServers nodes) {
    nodes.all().forEach(RedisServer::resetCommandCounts);
    Hold hold = Clients.acquire(client, NAME);
    boolean twoRounds = calls(nodes, 2);
    hold.release();
    return twoRounds && calls(nodes, 3);
  }

  private static boolean calls(RedlockServers nodes, int count) {
    try {
      Eventually.until(
          Duration.ofSeconds(5),
          count + " calls at each",
          () -> nodes.all().stream().allMatch(node -> node.commandCount("evalsha") == count));
      return true;
    } catch (AssertionError e) {
      return false;
    }
  }

  @Test
  void twoOfFiveKilled_holdsLiveOn_andLocksAreToBeHad() {
    try (RedlockServers nodes = RedlockServers.start(5)) {
      Fenceline client = clients.connect(nodes.uri(), LEASE);
      Fenceline other = clients.connect(nodes.uri(), LEASE);
      Hold hold = Clients.acquire(client, NAME);

      nodes.get(1).kill();
      nodes.get(3).kill();

      assertThat(nodes.get(1).isAlive() || nodes.get(3).isAlive()).isFalse();
      assertSurvives(hold);
      assertThat(other.lock(NAME).tryAcquire()).isEmpty();
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      assertThat(assertNext(other, hold).release()).isEqualTo(ReleaseOutcome.RELEASED);
      // A client that comes now manages with three, too.
      assertNext(clients.connect(nodes.uri(), LEASE), hold);
      // A node that a busy machine keeps from answering in time is named, too.
      Eventually.until(
          Duration.ofMinutes(1), "the two dead nodes alone to be named", () -> twoAreDead(other));
      clients.afterEach(null);
    }
  }

  private static boolean twoAreDead(Fenceline client) {
    List<Finding> serious =
        client.diagnose().stream()
            .filter(finding -> finding.severity() == Finding.Severity.SERIOUS)
            .toList();
    return serious.size() == 2
        && serious.stream().allMatch(finding -> finding.found().contains("does not answer"));
  }

  @Test
  void threeOfFiveKilled_theErrorNamesEachNode_nothingIsHeld_andAllHealsWithTheNodes() {
    try (RedlockServers nodes = RedlockServers.start(5)) {
      Fenceline client = clients.connect(nodes.uri(), LEASE);
      Hold hold = Clients.acquire(client, NAME);

      Stream.of(0, 2, 4).forEach(index -> nodes.get(index).kill());

      assertThat(nodes.all().stream().filter(RedisServer::isAlive)).hasSize(2);
      assertThatThrownBy(() -> client.lock("other").tryAcquire())
          .isInstanceOfSatisfying(
              StoreUnavailableException.class,
              error -> {
                assertThat(error)
                    .hasMessageContaining(
                        "A claim of lock 'other' found no majority of nodes, needed 3 of 5: ");
                assertThat(error.getMessage().split(" granted it as ")).hasSize(1 + 2);
                assertThat(error.getMessage().split("\\([0-9.]+[mu]?s\\)")).hasSize(1 + 5);
                nodes.all().forEach(n -> assertThat(error).hasMessageContaining(n.address()));
              });
      Clients.get(hold.lost());
      assertThat(hold.isValid()).isFalse();
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
      for (int alive : new int[] {1, 3}) { // What the two granted has been taken back.
        assertThat(nodes.get(alive).command("EXISTS", "fl1:r:other")).isEqualTo(0L);
      }

      Stream.of(0, 2, 4).forEach(index -> nodes.get(index).restart());

      assertNext(client, hold);
      clients.afterEach(null);
    }
  }

  @Test
  void restartedEmpty_doesNotVoteWhileWhatItForgotMayRun() {
    try (RedlockServers nodes = RedlockServers.start(5)) {
      Duration lease = Duration.ofSeconds(6);
      Fenceline client = clients.connect(nodes.uri(), lease);
      Fenceline other = clients.connect(nodes.uri(), LEASE);
      Hold hold =
          client.lock(NAME, LockOptions.defaults().fixedLease(lease)).tryAcquire().orElseThrow();
      // A hold that a bare majority has: with one of them forgetful, the rest is no majority.
      Eventually.until(Clients.AMPLE, "all to have it", () -> having(nodes) == 5);
      RedlockServers.free(nodes.get(3), NAME);
      RedlockServers.free(nodes.get(4), NAME);

      nodes.get(0).kill();
      nodes.get(0).restart();

      assertThat(having(nodes)).isEqualTo(2);
      assertThat(votes(nodes.get(0))).isFalse();
      List<Hold> taken = new ArrayList<>();
      List<Boolean> early = new ArrayList<>();
      Eventually.until(
          Clients.AMPLE,
          "the next holder",
          () -> {
            tryTo(other).forEach(taken::add);
            if (!taken.isEmpty()) {
              early.add(hold.isValid());
            }
            return !taken.isEmpty();
          });
      assertThat(early).as("two holders").containsExactly(false);
      assertThat(taken.get(0).token()).isGreaterThan(hold.token());
      Eventually.until(Clients.AMPLE, "the node to vote again", () -> votes(nodes.get(0)));
      clients.afterEach(null);
    }
  }

  private static long having(RedlockServers nodes) {
    return nodes.all().stream()
        .filter(node -> Long.valueOf(1).equals(node.command("EXISTS", KEY)))
        .count();
  }

  private static Stream<Hold> tryTo(Fenceline client) {
    try {
      return client.lock(NAME).tryAcquire().stream();
    } catch (StoreUnavailableException e) {
      return Stream.empty(); // Too few nodes vote: that is an answer, too.
    }
  }

  /**
   * The renewals are the test's own. With renewals each second, one that comes while a busy machine
   * restarts the first node can give the hold back before it is missed. A vote that is never
   * confirmed does not show here: a node has the name from the first round on.
   */
  @Test
  void restartedEmpty_isGivenBackWhatItForgot_byRenewals() {
    try (RedlockServers nodes = RedlockServers.start(5)) {
      Duration lease = Duration.ofMinutes(10);
      Fenceline client = clients.connect(nodes.uri(), lease);
      Hold hold =
          client.lock(NAME, LockOptions.defaults().fixedLease(lease)).tryAcquire().orElseThrow();
      Eventually.until(Clients.AMPLE, "all to have it", () -> having(nodes) == 5);
      RedlockServers.free(nodes.get(4), NAME);
      nodes.get(0).kill();
      nodes.get(0).restart();
      nodes.get(1).command("FLUSHALL");
      assertThat(having(nodes)).isEqualTo(2);

      Eventually.until(
          Clients.AMPLE,
          "all to have it again",
          () -> {
            Clients.get(hold.extendAsync(lease));
            return having(nodes) == 5;
          });

      nodes.get(2).kill(); // Those that had it all the time.
      nodes.get(3).kill();
      Clients.get(hold.extendAsync(lease));
      assertThat(hold.isValid()).isTrue();
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      assertThat(client.inspect(NAME).isFree()).isTrue();
      clients.afterEach(null);
    }
  }

  @Test
  void allEmptied_holdersKeepTheirLocks_andTokensRise() {
    try (RedlockServers nodes = RedlockServers.start(5)) {
      Fenceline client = clients.connect(nodes.uri(), LEASE);
      Fenceline other = clients.connect(nodes.uri(), LEASE);
      other.lock("warm").tryAcquire().orElseThrow().release(); // So that it knows of leases.
      Hold hold = Clients.acquire(client, NAME);

      nodes.all().forEach(node -> node.command("FLUSHALL"));

      assertThat(having(nodes)).isZero();
      assertThat(tryTo(other)).isEmpty();
      assertSurvives(hold);
      hold.release();
      assertNext(other, hold);
      clients.afterEach(null);
    }
  }

  @Test
  void clockOfOneSetForwardAndBack_costsItsVoteAtMost_andTokensRise() {
    RedisServer jumping = RedisServer.builder().fakeTime().start();
    try (RedlockServers nodes = RedlockServers.start(4)) {
      nodes.all().add(jumping);
      Fenceline client = clients.connect(nodes.uri(), LEASE);
      Fenceline other = clients.connect(nodes.uri(), LEASE);
      Hold hold = Clients.acquire(client, NAME);
      Eventually.until(Clients.AMPLE, "all nodes to have it", () -> having(nodes) == 5);

      jumping.clockOffset(Duration.ofHours(1));
      Eventually.until(Clients.AMPLE, "the clock to be ahead", () -> behind(jumping) < -3_000);

      assertThat(other.lock(NAME).tryAcquire()).isEmpty();
      assertSurvives(hold);
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      Hold second = assertNext(other, hold);

      jumping.clockOffset(Duration.ofHours(-1));
      Eventually.until(Clients.AMPLE, "the clock to be back", () -> behind(jumping) > 3_000);
      second.release();
      Hold third = assertNext(client, second);
      assertSurvives(third);
      clients.afterEach(null);
    }
  }

  private static long behind(RedisServer redis) {
    List<?> time = (List<?>) redis.command("TIME");
    return Instant.now().getEpochSecond() - Long.parseLong(String.valueOf(time.get(0)));
  }

  /** The clock hides it on one machine: so one node is made to count far ahead of all clocks. */
  @Test
  void tokenThatOneNodeGave_isKnownToTheNextMajority() {
    try (RedlockServers nodes = RedlockServers.start(5)) {
      Fenceline client = clients.connect(nodes.uri(), LEASE);
      Fenceline other = clients.connect(nodes.uri(), LEASE);
      long ahead = 30_000_000_000_000L;
      String bucket = Integer.toString(RedlockLayout.bucket(NAME));
      nodes.get(0).command("HSET", "fl1:r!", bucket, Long.toString(ahead));
      nodes.get(3).pause();
      nodes.get(4).pause();
      Hold first = Clients.acquire(client, NAME);
      assertThat(first.token() >> 8).isGreaterThan(ahead);
      assertThat(first.release()).isEqualTo(ReleaseOutcome.RELEASED);
      nodes.get(3).resume();
      nodes.get(4).resume();

      nodes.get(0).pause();
      nodes.get(1).pause();

      assertNext(other, first);
      nodes.get(0).resume();
      nodes.get(1).resume();
      clients.afterEach(null);
    }
  }

  @Test
  void evenNumberOfNodes_needsOneMore() {
    try (RedlockServers nodes = RedlockServers.start(4)) {
      Fenceline client = clients.connect(nodes.uri(), LEASE);
      nodes.get(3).kill();
      Hold hold = Clients.acquire(client, NAME);
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);

      nodes.get(2).kill();

      assertThat(nodes.get(2).isAlive()).isFalse();
      assertThatThrownBy(() -> client.lock(NAME).tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("needed 3 of 4");
      clients.afterEach(null);
    }
  }

  /** An address may come to lead to the server of another node: it would have two votes. */
  @Test
  void addressThatLeadsToTheServerOfAnotherNode_doesNotCount() throws Exception {
    try (RedlockServers nodes = RedlockServers.start(3);
        FaultProxy wrong = FaultProxy.to("127.0.0.1", nodes.get(0).port(), Protocol.RESP)) {
      Clients.acquire(clients.connect(nodes.uri(), LEASE), "ledger").release(); // All vote.
      Fault refusing = wrong.refuseConnections();
      Fenceline client =
          clients.connect(
              RedlockServers.uri(
                  List.of(nodes.get(0).address(), wrong.address(), nodes.get(1).address())),
              LEASE);
      Clients.acquire(client, "ledger").release();
      refusing.lift();
      Eventually.until(Clients.AMPLE, "a connection", () -> wrong.connections() > 0);

      nodes.get(1).kill();

      List<Hold> granted = new ArrayList<>();
      Eventually.until(
          Clients.AMPLE,
          "the server to be known",
          () -> {
            try {
              client.lock("ledger").tryAcquire().ifPresent(granted::add);
              return !granted.isEmpty();
            } catch (StoreUnavailableException e) {
              return e.getMessage().contains("it is the server of node " + nodes.get(0).address());
            }
          });
      assertThat(granted).as("granted by one server of three").isEmpty();
      clients.afterEach(null);
    }
  }

  @Test
  void badAddresses_areRefused() {
    try (RedlockServers nodes = RedlockServers.start(2)) {
      String one = nodes.get(0).address();
      String two = nodes.get(1).address();
      for (String bad :
          List.of(
              "redlock://" + one + "," + two,
              "redlock://" + one + "," + two + "," + one,
              "redlock://" + one + "," + two + ",c:1?wait=1",
              "redlock://" + one + "," + two + ",c:1?nodeTimeout=0ms")) {
        assertThatThrownBy(() -> clients.connect(bad, LEASE))
            .isInstanceOf(InvalidSettingException.class);
      }
    }
  }
}
