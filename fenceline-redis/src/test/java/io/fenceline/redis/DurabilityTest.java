package io.fenceline.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.Replication;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Grants that a replica must acknowledge. */
class DurabilityTest {
  private static final Duration LEASE = Duration.ofSeconds(20);

  private static RedisServer master;
  private static RedisServer replica;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    master = RedisServer.start();
    replica = RedisServer.builder().replicaOf(master).start();
    replica.awaitInSync(Clients.AMPLE);
  }

  @AfterAll
  static void stop() {
    replica.close();
    master.close();
  }

  private static String uri() {
    return master.uri() + "?wait=1&waitTimeout=2s";
  }

  @Test
  void acquire_waitsForTheReplica_andReleaseDoesNot() {
    Fenceline client = clients.connect(uri(), LEASE);
    client.lock("warm-up").tryAcquire().orElseThrow().release();
    master.resetCommandCounts();

    Hold hold = client.lock("durable").tryAcquire().orElseThrow();
    assertThat(replica.command("EXISTS", head("durable"))).isEqualTo(1L);
    hold.release();

    assertThat(master.commandCount("wait")).isEqualTo(1);
  }

  private static String head(String name) {
    return new String(Layout.place(name).keys()[0], java.nio.charset.StandardCharsets.UTF_8);
  }

  @Test
  void handOver_tellsTheHeadToAsk_soThatItsGrantIsAcknowledged() {
    Fenceline client = clients.connect(uri(), LEASE);
    Fenceline other = clients.connect(uri(), LEASE);
    Hold hold = Clients.acquire(client, "asks");
    CompletableFuture<Hold> waiting = other.lock("asks").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(client, "asks", 1);
    master.resetCommandCounts();

    hold.release();

    assertThat(Clients.get(waiting).token()).isGreaterThan(hold.token());
    assertThat(master.commandCount("wait")).isPositive();
  }

  @Test
  void replicaThatIsCutOff_failsTheAcquire_andLeavesTheNameFree() {
    try (RedisServer lonely = RedisServer.start();
        RedisServer follower = RedisServer.builder().replicaOf(lonely).start()) {
      follower.awaitInSync(Clients.AMPLE);
      Fenceline client = clients.connect(lonely.uri() + "?wait=1&waitTimeout=1500ms", LEASE);
      client.lock("quorum").tryAcquire().orElseThrow().release();
      Replication.cut(lonely, follower);

      assertThatThrownBy(() -> client.lock("quorum").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("0 of 1 replicas acknowledged it");

      assertThat(follower.info("master_link_status")).isEqualTo("down");
      Clients.awaitFree(client, "quorum", Clients.AMPLE);
      assertThat(client.diagnose())
          .anySatisfy(
              finding -> {
                assertThat(finding.check()).isEqualTo("replicas");
                assertThat(finding.severity()).isEqualTo(Finding.Severity.SERIOUS);
              });
      clients.afterEach(null);
    }
  }

  @Test
  void replicaTimeoutBeyondTheOperationTimeout_isRefused() {
    assertThatThrownBy(() -> clients.connect(master.uri() + "?wait=1&waitTimeout=60s", LEASE))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("operation timeout");
  }

  @Test
  void withoutAReplica_nothingIsWaitedFor_unlessAsked() {
    Fenceline client = clients.connect(master.uri(), LEASE);
    master.resetCommandCounts();

    client.lock("plain").tryAcquire().orElseThrow().release();

    assertThat(master.commandCount("wait")).isZero();
    Eventually.until(Clients.AMPLE, "it to be free", () -> client.inspect("plain").isFree());
  }
}
