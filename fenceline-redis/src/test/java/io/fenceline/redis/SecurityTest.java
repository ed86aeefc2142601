package io.fenceline.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.redlock.RedlockServers;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.DocumentedRights;
import io.fenceline.redis.support.Uris;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** TLS, users, and secrets that stay secret. */
class SecurityTest {
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final String PASSWORD = DocumentedRights.PASSWORD;

  @RegisterExtension final Clients clients = new Clients();

  /** Uses everything that a user of locks uses. */
  private void useEverything(String uri) {
    Fenceline client = clients.connect(uri, LEASE);
    Fenceline other = clients.connect(uri, LEASE);
    Hold hold = Clients.acquire(client, "ledger");
    CompletableFuture<Hold> waiting = other.lock("ledger").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(client, "ledger", 1);
    CompletableFuture<Hold> cancelled =
        client.readWriteLock("ledger").readLock().acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(client, "ledger", 2);
    cancelled.cancel(true);
    Clients.awaitWaiters(client, "ledger", 1);
    hold.release();
    Hold next = Clients.get(waiting);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(client.list("led", 10)).hasSize(1);
    try {
      next.ensure(LEASE.minusSeconds(1)); // By a renewal, where it is needed.
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    assertThat(client.forceRelease("ledger", next.token())).isTrue();
    Clients.awaitFree(client, "ledger", Clients.AMPLE);
    assertThat(client.diagnose())
        .noneSatisfy(f -> assertThat(f.severity()).isEqualTo(Finding.Severity.SERIOUS));
    clients.afterEach(null);
  }

  @Test
  void tls_works_andACertificateOfAnotherAuthorityIsRefused() {
    try (RedisServer redis = RedisServer.builder().tls().start()) {
      useEverything(redis.uri() + "?tlsCa=" + redis.tlsFiles().caCertificate());
      assertThatThrownBy(() -> clients.connect(redis.uri(), LEASE))
          .isInstanceOf(StoreUnavailableException.class);
    }
  }

  @Test
  void documentedRule_isEnough() {
    String rule = DocumentedRights.rule();
    try (RedisServer redis = RedisServer.builder().user("locks", rule).start()) {
      useEverything("redis://locks:" + PASSWORD + "@" + redis.address());
      assertThat((java.util.List<?>) redis.command("ACL", "LOG")).isEmpty();
    }
  }

  @Test
  void documentedRule_isEnoughInACluster() {
    try (RedisCluster cluster = RedisCluster.start()) {
      for (RedisServer node : cluster.nodes()) {
        String[] words = ("ACL SETUSER locks " + DocumentedRights.rule()).split(" ");
        node.command(words);
      }
      useEverything(Uris.of(cluster).replace("//", "//locks:" + PASSWORD + "@"));
      cluster
          .masters()
          .forEach(node -> assertThat((java.util.List<?>) node.command("ACL", "LOG")).isEmpty());
    }
  }

  @Test
  void documentedRule_isEnoughForARedlock_withWhatItsPageAdds() {
    String rule = DocumentedRights.rule() + " " + documentedAddition();
    try (RedlockServers nodes =
        RedlockServers.start(3, () -> RedisServer.builder().user("locks", rule).start())) {
      String uri = nodes.uri().replace("//", "//locks:" + PASSWORD + "@");
      Fenceline client = clients.connect(uri, LEASE);
      Fenceline other = clients.connect(uri, LEASE);
      Hold hold = Clients.acquire(client, "ledger");
      CompletableFuture<Hold> waiting = other.lock("ledger").acquireAsync(Clients.AMPLE);
      Eventually.until(
          Clients.AMPLE,
          "someone to wait",
          () -> nodes.get(0).command("EXISTS", "fl1:r@ledger").equals(1L));
      nodes.get(0).command("FLUSHALL"); // So that it is given back, and admitted again.
      Eventually.until(
          Clients.AMPLE,
          "the node to vote again",
          () -> nodes.get(0).command("HGET", "fl1:r!", "run") != null);
      hold.release();
      Hold next = Clients.get(waiting);
      assertThat(next.token()).isGreaterThan(hold.token());
      assertThat(client.list("led", 10)).hasSize(1);
      assertThat(client.forceRelease("ledger", next.token())).isTrue();
      assertThat(client.diagnose())
          .noneSatisfy(f -> assertThat(f.severity()).isEqualTo(Finding.Severity.SERIOUS));
      clients.afterEach(null);
      nodes.all().forEach(n -> assertThat((java.util.List<?>) n.command("ACL", "LOG")).isEmpty());
    }
  }

  private static String documentedAddition() {
    try {
      String page =
          Files.readString(Path.of(System.getProperty("user.dir"), "..", "docs", "redlock.md"));
      Matcher addition = Pattern.compile("lists:\\s+`([^`]*)`").matcher(page);
      assertThat(addition.find()).isTrue();
      return addition.group(1).replaceAll("\\s+", " ").strip();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void wrongPassword_isRefused_andNotShown() {
    try (RedisServer redis = RedisServer.builder().password("right").start()) {
      assertThatThrownBy(
              () -> clients.connect("redis://:" + PASSWORD + "@" + redis.address(), LEASE))
          .isInstanceOf(StoreRefusedException.class)
          .satisfies(
              failure -> {
                for (Throwable t = failure; t != null; t = t.getCause()) {
                  assertThat(t.toString()).doesNotContain(PASSWORD);
                }
              });
    }
  }

  @Test
  void clientThatTheUserHas_isUsed_andLeftOpen() {
    try (RedisServer redis = RedisServer.builder().password(PASSWORD).start()) {
      RedisURI uri = RedisURI.create(redis.uri());
      RedisClient own = RedisClient.create();
      try {
        Fenceline client =
            clients.connect(Fenceline.builder().store(RedisStores.from(own, uri)).label("given"));
        Hold hold = Clients.acquire(client, "given");
        assertThat(client.store()).doesNotContain(PASSWORD);
        hold.release();
        clients.afterEach(null);
        assertThat(own.connect(uri).sync().ping()).isEqualTo("PONG");
      } finally {
        own.shutdown();
      }
    }
  }

  /** Whoever may listen to all channels, but read no key, learns no owner. */
  @Test
  void messages_doNotTellOwners() {
    try (RedisServer redis =
        RedisServer.builder()
            .user("listener", "on >listening resetkeys &* -@all +psubscribe")
            .start()) {
      RedisClient own = RedisClient.create("redis://listener:listening@" + redis.address());
      try (StatefulRedisPubSubConnection<byte[], byte[]> heard =
          own.connectPubSub(ByteArrayCodec.INSTANCE)) {
        BlockingQueue<byte[]> messages = new LinkedBlockingQueue<>();
        heard.addListener(
            new RedisPubSubAdapter<byte[], byte[]>() {
              @Override
              public void message(byte[] pattern, byte[] channel, byte[] message) {
                messages.add(message);
              }
            });
        heard.sync().psubscribe(Layout.bytes("*"));
        Fenceline client = clients.connect(redis.uri(), LEASE);
        Fenceline other = clients.connect(redis.uri(), LEASE);
        Hold hold = Clients.acquire(client, "secret");
        CompletableFuture<Hold> waiting = other.lock("secret").acquireAsync(Clients.AMPLE);
        Clients.awaitWaiters(client, "secret", 1);

        hold.release();

        assertThat(Clients.get(waiting).isValid()).isTrue();
        byte[] message = Clients.get(CompletableFuture.supplyAsync(() -> take(messages)));
        assertThat(new String(message, StandardCharsets.ISO_8859_1))
            .matches("[0-9a-f]{40}[0-9]+ [0-9]+");
        clients.afterEach(null);
      } finally {
        own.shutdown();
      }
    }
  }

  private static byte[] take(BlockingQueue<byte[]> messages) {
    try {
      return messages.take();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
