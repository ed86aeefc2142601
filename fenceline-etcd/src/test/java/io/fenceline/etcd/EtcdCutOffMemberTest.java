package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.event.LossReason;
import io.fenceline.event.Lost;
import io.fenceline.testbed.server.EtcdCluster;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testbed.server.Partition;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A member that the others can't reach, and a holder that reaches only that member. A leader that
 * is cut off goes on answering keep-alives until it notices.
 */
@SuppressWarnings("MustBeClosedChecker") // holds outlive the block that makes them
class EtcdCutOffMemberTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(4));

  private static EtcdCluster cluster;

  @BeforeAll
  static void start() {
    cluster = EtcdCluster.startWithPeerProxies();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  private static Fenceline client(String label, List<EtcdServer> members) {
    return Fenceline.builder()
        .store(
            "etcd://" + members.stream().map(EtcdServer::address).collect(Collectors.joining(",")))
        .label(label)
        .operationTimeout(Duration.ofSeconds(2))
        .defaultOptions(OPTIONS)
        .connect();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHolderAtAMemberThatIsCutOff_losesByItsOwnClock_beforeTheMajorityGivesTheNameAway(
      boolean isLeader) throws Exception {
    EtcdServer leader = cluster.awaitLeader(BOUND);
    EtcdServer cutOff =
        cluster.members().stream()
            .filter(member -> (member == leader) == isLeader)
            .findFirst()
            .orElseThrow();
    List<EtcdServer> majority =
        cluster.members().stream().filter(member -> member != cutOff).toList();
    String name = "partitioned-" + isLeader;
    try (Fenceline holder = client("holder", List.of(cutOff));
        Fenceline waiter = client("waiter", majority)) {
      Hold hold = holder.lock(name).acquire(BOUND);
      CompletableFuture<Boolean> heldAtTheGrant = new CompletableFuture<>();
      CompletableFuture<Hold> waiting = waiter.lock(name).acquireAsync(BOUND);
      waiting.thenAccept(granted -> heldAtTheGrant.complete(hold.isValid()));
      Eventually.until(BOUND, "a waiter", () -> holder.inspect(name).waiters().size() == 1);

      try (Partition partition = cluster.cutOff(cutOff)) {
        long cut = System.nanoTime();
        Lost lost = hold.lost().get(60, TimeUnit.SECONDS);
        long noticed = System.nanoTime();
        assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
        Hold next = waiting.get(60, TimeUnit.SECONDS);
        long given = System.nanoTime();

        assertThat(heldAtTheGrant.get(60, TimeUnit.SECONDS)).isFalse();
        assertThat(next.token()).isGreaterThan(hold.token());
        System.out.printf(
            "Cut off %s: lost after %d ms, given away after %d ms%n",
            isLeader ? "leader" : "follower",
            (noticed - cut) / 1_000_000,
            (given - cut) / 1_000_000);
        // The fault was there: members could not speak to each other, and the one knows of no
        // leader.
        assertThat(partition.timesApplied()).isPositive();
        assertThat(cutOff.hasLeader()).isFalse();
        assertThat(majority).allMatch(EtcdServer::hasLeader);
        next.release();
      }
      try (Hold again = holder.lock(name).acquire(BOUND)) {
        assertThat(again.token()).isGreaterThan(hold.token());
      }
    }
  }
}
