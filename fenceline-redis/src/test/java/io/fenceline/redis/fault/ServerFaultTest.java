package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.LossReason;
import io.fenceline.event.Lost;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.Stores;
import io.fenceline.spi.RenewRequest;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What happens to locks when the server is killed, wiped, or has its clock set. */
class ServerFaultTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final String NAME = "ledger";

  @RegisterExtension final Clients clients = new Clients();

  private static String head() {
    return new String(Layout.place(NAME).keys()[0], java.nio.charset.StandardCharsets.UTF_8);
  }

  private static String counter() {
    return new String(Layout.place(NAME).keys()[4], java.nio.charset.StandardCharsets.UTF_8);
  }

  /** The holder learns of its loss, and the next one gets a larger token. */
  private void assertLostAndFenced(Hold stale, Fenceline other) {
    Lost lost = Clients.get(stale.lost());
    assertThat(lost.reason()).isIn(LossReason.GONE, LossReason.EXPIRED);
    assertThat(stale.isValid()).isFalse();
    Hold next = Clients.acquire(other, NAME);
    assertThat(next.token()).isGreaterThan(stale.token());
    assertThat(stale.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
    assertThat(other.inspect(NAME).holders().get(0).id()).isEqualTo(next.id());
    assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
  }

  @Test
  void killedWithoutPersistence_theHolderLearnsOfItsLoss_andTokensRise() {
    try (RedisServer redis = RedisServer.start()) {
      Fenceline client = clients.connect(redis.uri(), LEASE);
      Fenceline other = clients.connect(redis.uri(), LEASE);
      Hold hold = Clients.acquire(client, NAME);

      redis.kill();
      assertThat(redis.isAlive()).isFalse();
      redis.restart();

      assertThat((Long) redis.command("DBSIZE")).isZero();
      assertLostAndFenced(hold, other);
      clients.afterEach(null);
    }
  }

  @Test
  void killedWithAnAppendOnlyFile_theHoldSurvives() {
    try (RedisServer redis = RedisServer.builder().appendOnly("always").start()) {
      Duration lease = Duration.ofSeconds(15);
      Fenceline client = clients.connect(redis.uri(), lease);
      Fenceline other = clients.connect(redis.uri(), lease);
      Hold hold = Clients.acquire(client, NAME);

      redis.kill();
      assertThat(redis.isAlive()).isFalse();
      redis.restart();

      assertThat(redis.command("EXISTS", head())).isEqualTo(1L);
      Eventually.until(Clients.AMPLE, "the name to be seen held", () -> held(other));
      assertThat(hold.isValid()).isTrue();
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      assertThat(Clients.acquire(other, NAME).token()).isGreaterThan(hold.token());
      clients.afterEach(null);
    }
  }

  /** As docs/redis.md advises for masters with replicas. */
  @Test
  void masterThatIsCutOffFromItsReplicas_grantsAndRenewsNothing_ifItNeedsOne() {
    try (RedisServer redis = RedisServer.start()) {
      Fenceline client = clients.connect(redis.uri(), LEASE);
      Hold hold = Clients.acquire(client, NAME);

      redis.command("CONFIG", "SET", "min-replicas-to-write", "1");

      assertThatThrownBy(() -> client.lock("other").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("NOREPLICAS");
      Clients.get(hold.lost());
      redis.command("CONFIG", "SET", "min-replicas-to-write", "0");
      assertThat(Clients.acquire(client, NAME).token()).isGreaterThan(hold.token());
      clients.afterEach(null);
    }
  }

  private static boolean held(Fenceline client) {
    return !client.inspect(NAME).isFree() && client.lock(NAME).tryAcquire().isEmpty();
  }

  @Test
  void flushed_theHolderLearnsOfItsLoss_andTokensRise() {
    try (RedisServer redis = RedisServer.start()) {
      Fenceline client = clients.connect(redis.uri(), LEASE);
      Fenceline other = clients.connect(redis.uri(), LEASE);
      Hold hold = Clients.acquire(client, NAME);

      redis.command("FLUSHALL");

      assertThat(redis.command("EXISTS", head(), counter())).isEqualTo(0L);
      assertLostAndFenced(hold, other);
      clients.afterEach(null);
    }
  }

  @Test
  void flushedWithTheClockBehind_theClientsOwnMemoryKeepsTokensRising() {
    try (RedisServer redis = RedisServer.builder().fakeTime().start()) {
      Fenceline client = clients.connect(redis.uri(), LEASE);
      Hold first = Clients.acquire(client, NAME);
      first.release();

      redis.clockOffset(Duration.ofHours(-1));
      Eventually.until(Clients.AMPLE, "the clock to be back", () -> behind(redis) > 3_000);
      redis.command("FLUSHALL");
      Hold second = Clients.acquire(client, NAME);

      assertThat(second.token()).isGreaterThan(first.token());
      clients.afterEach(null);
    }
  }

  private static long behind(RedisServer redis) {
    List<?> time = (List<?>) redis.command("TIME");
    return Instant.now().getEpochSecond() - Long.parseLong(String.valueOf(time.get(0)));
  }

  @Test
  void scriptsForgotten_areSentAgain() {
    try (RedisServer redis = RedisServer.start()) {
      Fenceline client = clients.connect(redis.uri(), LEASE);
      Hold hold = Clients.acquire(client, NAME);
      String hash =
          new String(Script.RELEASE_UNCONTENDED.hash(), java.nio.charset.StandardCharsets.US_ASCII);

      redis.command("SCRIPT", "FLUSH");

      assertThat(redis.command("SCRIPT", "EXISTS", hash)).isEqualTo(List.of(0L));
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      assertThat(client.lock(NAME).tryAcquire()).isPresent();
      clients.afterEach(null);
    }
  }

  @Test
  void evicted_theHolderLearnsOfItsLoss_andTokensRise() {
    try (RedisServer redis = RedisServer.builder().maxMemory("6mb", "allkeys-lru").start()) {
      Fenceline client = clients.connect(redis.uri(), LEASE);
      Fenceline other = clients.connect(redis.uri(), LEASE);
      Hold hold = Clients.acquire(client, NAME);
      String filler = "x".repeat(64_000);

      int written = 0;
      while (!Long.valueOf(0).equals(redis.command("EXISTS", head(), counter()))) {
        redis.command("SET", "filler-" + written++, filler);
        assertThat(written).isLessThan(5_000);
      }

      assertThat(Long.parseLong(redis.info("evicted_keys"))).isPositive();
      redis.command("FLUSHALL"); // Room again: what is tested has happened.
      assertLostAndFenced(hold, other);
      clients.afterEach(null);
    }
  }

  @Test
  void clockSetForward_theHolderLearnsOfItsLoss_andTokensRise() {
    try (RedisServer redis = RedisServer.builder().fakeTime().start()) {
      Fenceline client = clients.connect(redis.uri(), LEASE);
      Fenceline other = clients.connect(redis.uri(), LEASE);
      Hold hold = Clients.acquire(client, NAME);

      redis.clockOffset(Duration.ofHours(1));
      Eventually.until(Clients.AMPLE, "the clock to be ahead", () -> behind(redis) < -3_000);

      assertLostAndFenced(hold, other);
      clients.afterEach(null);
    }
  }

  @Test
  void clockSetBack_closesANameForOneLease_notForTheStep() {
    try (RedisServer redis = RedisServer.builder().fakeTime().start()) {
      Fenceline client = clients.connect(redis.uri(), LEASE);
      // Holders that have vanished: nobody gives these back.
      Stores.Opened vanished = Stores.open(redis.uri());
      RenewRequest alone = Stores.claimAll(vanished, "alone-", 1, LEASE).get(0);
      RenewRequest wanted = Stores.claimAll(vanished, "wanted-", 1, Duration.ofSeconds(15)).get(0);
      vanished.store().close();
      CompletableFuture<Hold> waiting = client.lock("wanted-0").acquireAsync(Clients.AMPLE);
      Clients.awaitWaiters(client, "wanted-0", 1);

      redis.clockOffset(Duration.ofHours(-1));
      Eventually.until(Clients.AMPLE, "the clock to be back", () -> behind(redis) > 3_000);

      Hold next = Clients.acquire(client, "alone-0");
      assertThat(next.token() >> 8).isGreaterThan(alone.grant().number());
      assertThat(Clients.get(waiting).token() >> 8).isGreaterThan(wanted.grant().number());
      clients.afterEach(null);
    }
  }
}
