package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LockListener;
import io.fenceline.event.Renewed;
import io.fenceline.event.StoreFailed;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.Replication;
import io.fenceline.redis.support.Uris;
import io.fenceline.testbed.server.RedisKind;
import io.fenceline.testbed.server.RedisSentinel;
import io.fenceline.testbed.server.RedisSentinels;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A master that fails, with a replica that lacks the newest writes. */
class SentinelFaultTest {
  private static final Duration LEASE = Duration.ofSeconds(3);

  @RegisterExtension final Clients clients = new Clients();

  @Test
  void failoverToAReplicaThatLacksTheLock_isALossThatIsTold_andTokensRise() {
    try (RedisSentinels group = RedisSentinels.start(Duration.ofSeconds(2))) {
      RedisServer master = group.master();
      RedisServer replica = group.replica();
      Fenceline client = clients.connect(Uris.of(group), LEASE);
      Fenceline other = clients.connect(Uris.of(group), LEASE);
      Replication.cut(master, replica);
      Hold hold = Clients.acquire(client, "ledger");
      String head = new String(Layout.place("ledger").keys()[0], StandardCharsets.UTF_8);

      master.kill();

      assertThat(master.isAlive()).isFalse();
      group.awaitMaster(replica, Clients.AMPLE);
      Clients.get(hold.lost());
      assertThat(hold.isValid()).isFalse();
      Hold next = Clients.acquire(other, "ledger");
      assertThat(next.token()).isGreaterThan(hold.token());
      assertThat(replica.command("EXISTS", head)).isEqualTo(1L); // It is the new master's.
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
      assertThat(next.isValid()).isTrue();
      // A client that is asked for the first time now finds the new master, too.
      Hold third = Clients.acquire(client, "third");
      assertThat(third.isValid()).isTrue();
      clients.afterEach(null);
    }
  }

  @Test
  void failoverToAReplicaThatHasTheLock_keepsIt() {
    try (RedisSentinels group = RedisSentinels.start(Duration.ofSeconds(1))) {
      RedisServer master = group.master();
      RedisServer replica = group.replica();
      Fenceline client = clients.connect(Uris.of(group), Duration.ofSeconds(30));
      Hold hold = Clients.acquire(client, "kept");
      String head = new String(Layout.place("kept").keys()[0], StandardCharsets.UTF_8);
      Eventually.until(
          Clients.AMPLE,
          "the replica to have it",
          () -> replica.command("EXISTS", head).equals(1L));

      master.kill();

      group.awaitMaster(replica, Clients.AMPLE);
      assertThat(hold.isValid()).isTrue();
      Eventually.until(
          Clients.AMPLE,
          "the new master to be asked",
          () -> client.inspect("kept").holders().get(0).id().equals(hold.id()));
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      clients.afterEach(null);
    }
  }

  /** Either scheme reaches either server. */
  @ParameterizedTest
  @EnumSource(RedisKind.class)
  void masterThatWasDemoted_isRefusedByNobody_whoWaitsForTheNext(RedisKind scheme) {
    try (RedisSentinels group = RedisSentinels.start(Duration.ofMinutes(5))) {
      RedisServer master = group.master();
      AtomicBoolean failed = new AtomicBoolean();
      Fenceline client =
          clients.connect(
              Fenceline.builder()
                  .store(Uris.of(scheme, group))
                  .listener(
                      new LockListener() {
                        @Override
                        public void onStoreFailed(StoreFailed event) {
                          failed.set(true);
                        }
                      }));
      master.command("REPLICAOF", master.host(), "1"); // The Sentinels have not noticed yet.

      CompletableFuture<Hold> claim = client.lock("demoted").acquireAsync(Clients.AMPLE);
      Eventually.until(Clients.AMPLE, "a refusal", () -> failed.get() || claim.isDone());
      master.command("REPLICAOF", "NO", "ONE");

      assertThat(Clients.get(claim).isValid()).isTrue();
      clients.afterEach(null);
    }
  }

  /**
   * The old master is cut off from all but us, and one of our connections to it breaks: claims and
   * renewals must not go to different masters, or each hold would be lost at its first renewal.
   */
  @Test
  void masterThatIsReplaced_isLeftByAllConnections_onceOneHasFoundTheNext() {
    try (RedisSentinels group = RedisSentinels.start(Duration.ofMinutes(5));
        RedisServer next = RedisServer.start()) {
      RedisServer cutOff = group.master();
      AtomicBoolean renewed = new AtomicBoolean();
      Fenceline client =
          clients.connect(
              Fenceline.builder()
                  .store(Uris.of(group))
                  .connectTimeout(Clients.AMPLE)
                  .defaultOptions(LockOptions.defaults().lease(LEASE))
                  .listener(
                      new LockListener() {
                        @Override
                        public void onRenewed(Renewed event) {
                          renewed.set(true);
                        }
                      }));
      Clients.acquire(client, "before").release();
      for (RedisSentinel sentinel : group.sentinels()) {
        String name = RedisSentinels.MASTER_NAME;
        sentinel.command("SENTINEL", "REMOVE", name);
        sentinel.command(
            "SENTINEL", "MONITOR", name, next.host(), Integer.toString(next.port()), "2");
      }

      assertThat(killConnectionForClaims(cutOff)).isEqualTo(1);
      Hold hold = Clients.acquire(client, "after");

      assertThat(next.command("EXISTS", Layout.headOf("after"))).isEqualTo(1L);
      Eventually.until(
          Clients.AMPLE, "its first renewal", () -> renewed.get() || hold.lost().isDone());
      assertThat(hold.isValid()).isTrue();
      clients.afterEach(null);
    }
  }

  /** The only one that has called scripts; says how many there were. */
  private static long killConnectionForClaims(RedisServer server) {
    return String.valueOf(server.command("CLIENT", "LIST"))
        .lines()
        .filter(line -> line.contains(" cmd=evalsha "))
        .map(line -> line.substring(line.indexOf("id=") + 3, line.indexOf(' ')))
        .peek(id -> server.command("CLIENT", "KILL", "ID", id))
        .count();
  }

  /** Its socket is open, and nobody reads from it. */
  @Test
  void silentSentinelAtTheFront_delaysNobody() {
    try (RedisSentinels group = RedisSentinels.start(Duration.ofSeconds(30))) {
      RedisSentinel silent = group.sentinels().get(0);
      silent.pause();
      for (RedisSentinel other : group.sentinels().subList(1, 3)) { // All that we ask of them.
        other.command("ACL", "SETUSER", "default", "-@all", "+sentinel|get-master-addr-by-name");
      }
      try {
        Fenceline client = clients.connect(Uris.of(group), Duration.ofSeconds(30));
        Hold hold = Clients.acquire(client, "silent");
        for (int i = 0; i < 4; i++) { // Whoever is asked first.
          group.servers().get(0).command("CLIENT", "KILL", "TYPE", "normal");
          assertThat(Clients.acquire(client, "again-" + i).isValid()).isTrue();
        }
        assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
        clients.afterEach(null);
      } finally {
        silent.resume();
      }
    }
  }

  /** It was cut off and knows the old master, or its address was given to another deployment. */
  @Test
  void sentinelWithAnotherView_isOutvoted_whoeverIsAskedFirst() {
    try (RedisSentinels group = RedisSentinels.start(Duration.ofSeconds(30));
        RedisServer wrong = RedisServer.start()) {
      RedisSentinel odd = group.sentinels().get(0);
      String name = RedisSentinels.MASTER_NAME;
      odd.command("SENTINEL", "REMOVE", name);
      odd.command("SENTINEL", "MONITOR", name, wrong.host(), Integer.toString(wrong.port()), "1");
      Fenceline client =
          clients.connect(Fenceline.builder().store(Uris.of(group)).connectTimeout(Clients.AMPLE));
      for (int i = 0; i < 4; i++) {
        assertThat(Clients.acquire(client, "odd-" + i).isValid()).isTrue();
        assertThat(wrong.command("DBSIZE")).as("locks at the wrong server").isEqualTo(0L);
        group.servers().get(0).command("CLIENT", "KILL", "TYPE", "normal");
      }
      clients.afterEach(null);
    }
  }
}
