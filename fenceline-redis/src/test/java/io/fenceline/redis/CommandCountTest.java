package io.fenceline.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.Stores;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What goes over the wire, counted by a proxy that reads it. */
class CommandCountTest {
  private static final Duration LONG = Duration.ofMinutes(10);

  private static RedisServer redis;
  private static FaultProxy proxy;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
  }

  @AfterAll
  static void stop() {
    proxy.close();
    redis.close();
  }

  private static String uri() {
    return "redis://" + proxy.address();
  }

  @Test
  void scriptsAreLoadedByTheFirstClient_andByNoOther_untilTheServerForgetsThem() {
    try (RedisServer fresh = RedisServer.start()) {
      Map<String, Long> first = afterConnecting(fresh);
      assertThat(first.get("script|load")).isGreaterThan(5);

      assertThat(afterConnecting(fresh)).doesNotContainKey("script|load");

      fresh.command("SCRIPT", "FLUSH");
      assertThat(afterConnecting(fresh)).containsEntry("script|load", first.get("script|load"));
    }
  }

  /** The commands of a client that connects, and of its first lock, which comes after them. */
  private Map<String, Long> afterConnecting(RedisServer server) {
    server.resetCommandCounts();
    Fenceline client = clients.connect(server.uri(), LONG);
    client.lock("first").tryAcquire().orElseThrow().release();
    Map<String, Long> counts = server.commandCounts();
    client.close();
    return counts;
  }

  @Test
  void aCycle_isTwoCommands_andPublishesNothing() {
    Fenceline client = clients.connect(uri(), LONG);
    client.lock("warm-up").tryAcquire().orElseThrow().release(); // The scripts are known now.
    proxy.resetCounts();
    redis.resetCommandCounts();

    Hold hold = client.lock("ledger").tryAcquire().orElseThrow();
    Map<String, Long> acquire = proxy.counts();
    try (Hold again = hold.reenter()) {
      assertThat(again.token()).isEqualTo(hold.token());
    }
    Map<String, Long> reentry = proxy.counts();
    hold.release();

    assertThat(acquire).isEqualTo(Map.of("EVALSHA", 1L));
    assertThat(reentry).isEqualTo(acquire);
    assertThat(proxy.counts()).isEqualTo(Map.of("EVALSHA", 2L));
    assertThat(redis.commandCounts()).doesNotContainKeys("publish", "spublish");
    assertThat(redis.commandCounts())
        .containsEntry("time", 1L)
        .containsEntry("set", 1L)
        .containsEntry("getset", 1L)
        .containsEntry("get", 1L)
        .containsEntry("del", 1L);
  }

  @Test
  void aNameThatIsHeld_costsTheFastPathOneRequestMore_andNothingWithoutIt() {
    Hold hold = Clients.acquire(clients.connect(redis.uri(), LONG), "held");

    assertThat(requestsOfARefusal(RedisStores.at(uri()))).isEqualTo(2);
    assertThat(requestsOfARefusal(RedisStores.at(uri()).withoutFastPath())).isEqualTo(1);
    hold.release();
  }

  private long requestsOfARefusal(RedisStores store) {
    Fenceline client =
        clients.connect(
            Fenceline.builder().store(store).defaultOptions(LockOptions.defaults().lease(LONG)));
    client.lock("warm-up").tryAcquire().orElseThrow().release();
    proxy.resetCounts();
    assertThat(client.lock("held").tryAcquire()).isEmpty();
    return proxy.count("EVALSHA") + proxy.count("EVAL");
  }

  @Test
  void aHandOverBetweenProcesses_isToldToTheHeadOnly_byTheReleaseItself() {
    Fenceline holder = clients.connect(redis.uri(), LONG);
    Fenceline head = clients.connect(redis.uri(), LONG);
    Fenceline next = clients.connect(redis.uri(), LONG);
    Hold hold = Clients.acquire(holder, "hand-over");
    var first = head.lock("hand-over").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(holder, "hand-over", 1);
    var second = next.lock("hand-over").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(holder, "hand-over", 2);
    // So that the channel of the head is subscribed to before the release.
    Eventually.until(
        Clients.AMPLE,
        "two subscriptions",
        () -> (List<?>) redis.command("PUBSUB", "CHANNELS"),
        channels -> channels.size() == 2);
    redis.resetCommandCounts();

    hold.release();
    Hold handed = (Hold) Clients.get(CompletableFuture.anyOf(first, second));

    assertThat(handed.token()).isGreaterThan(hold.token());
    assertThat(redis.commandCount("publish")).isEqualTo(1);
    assertThat(first.isDone() ? second : first).isNotDone();
  }

  @Test
  void aHandOverBetweenProcesses_isTakenFromTheMessage_withoutAQuestion() {
    Fenceline holder = clients.connect(redis.uri(), LONG);
    Fenceline head = clients.connect(uri(), LONG);
    List<Long> questions = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Hold hold = Clients.acquire(holder, "told");
      CompletableFuture<Hold> waiting = head.lock("told").acquireAsync(Clients.AMPLE);
      Clients.awaitWaiters(holder, "told", 1);
      Eventually.until(
          Clients.AMPLE,
          "a subscription",
          () -> (List<?>) redis.command("PUBSUB", "CHANNELS"),
          channels -> !channels.isEmpty());
      proxy.resetCounts();

      hold.release();
      Hold handed = Clients.get(waiting);

      questions.add(proxy.count("EVALSHA") + proxy.count("EVAL"));
      handed.release();
    }
    // Once a second it asks all the same, which may have been just then.
    assertThat(questions).contains(0L);
  }

  @Test
  void aThousandHolds_areRenewedWithTenCommandsAtMost() {
    Stores.Opened opened = Stores.open(uri());
    List<RenewRequest> holds = Stores.claimAll(opened, "many-", 1_000, LONG);
    proxy.resetCounts();

    List<CompletableFuture<Renewal>> renewed = opened.store().renew(holds);

    renewed.forEach(answer -> assertThat(Clients.get(answer)).isInstanceOf(Renewal.Renewed.class));
    assertThat(proxy.count("EVALSHA") + proxy.count("EVAL")).isBetween(1L, 10L);
    opened.store().close();
  }

  @Test
  void namesUsedOnce_leaveNoMoreThanTheCounters() {
    // A million by -Dfenceline.names=1000000; fewer in every build, because what leaks shows at
    // once.
    int names = Integer.getInteger("fenceline.names", 20_000);
    redis.command("FLUSHALL");
    Fenceline client = clients.connect(redis.uri(), LONG);
    for (int i = 0; i < names; i += 1_000) {
      List<CompletableFuture<Optional<Hold>>> asked = new ArrayList<>();
      for (int j = i; j < Math.min(names, i + 1_000); j++) {
        asked.add(client.lock("once-" + j).tryAcquireAsync());
      }
      asked.stream()
          .map(answer -> Clients.get(answer).orElseThrow().releaseAsync())
          .toList()
          .forEach(Clients::get);
    }

    assertThat((Long) redis.command("DBSIZE")).isLessThanOrEqualTo(Layout.BUCKETS);
  }
}
