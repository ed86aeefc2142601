package io.fenceline.testbed.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.RespClient;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every fault, on the protocol that is the easiest to speak. */
class RespProxyTest {

  private static final Duration BOUND = Duration.ofSeconds(10);
  private static final Duration SHORT = Duration.ofMillis(150);

  private static RedisServer redis;
  private FaultProxy proxy;
  private RespClient client;

  @BeforeAll
  static void startRedis() {
    redis = RedisServer.start();
  }

  @AfterAll
  static void stopRedis() {
    redis.close();
  }

  @BeforeEach
  void connect() throws IOException {
    redis.command("FLUSHALL");
    proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
    client = newClient();
    client.call("PING"); // only now has the proxy surely seen it
    proxy.resetCounts();
  }

  @AfterEach
  void disconnect() throws IOException {
    client.close();
    proxy.close();
    assertThat(threadsOf(proxy)).isEmpty();
  }

  private static List<Thread> threadsOf(FaultProxy proxy) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("fault-proxy-" + proxy.port()))
        .toList();
  }

  private RespClient newClient() throws IOException {
    return RespClient.connect(proxy.host(), proxy.port());
  }

  private void assertNoReply(RespClient waiting) throws IOException {
    waiting.readTimeout(SHORT);
    assertThatThrownBy(waiting::read).isInstanceOf(SocketTimeoutException.class);
    waiting.readTimeout(BOUND);
  }

  private static void awaitApplied(Fault fault, long times) {
    Eventually.until(BOUND, fault + " to strike", fault::timesApplied, seen -> seen >= times);
  }

  @Test
  void heldRequest_arrivesWhenItIsLifted_thoughItsClientHasGone() throws IOException {
    Fault late = proxy.holdRequest(Trigger.first(request -> request.contains("late")));

    client.send("SET", "late", "1");
    Eventually.until(BOUND, "the request to be held", () -> late.timesApplied() == 1);
    client.close();
    client = newClient();
    assertThat(client.call("SET", "meanwhile", "1")).isEqualTo("OK");
    assertThat(redis.command("EXISTS", "late")).isEqualTo(0L);
    late.lift();

    Eventually.until(
        BOUND, "it to arrive", () -> Long.valueOf(1).equals(redis.command("EXISTS", "late")));
  }

  @Test
  void withoutFaults_everythingPasses_andIsCounted() throws IOException {
    String large = "x".repeat(3_000_000);
    assertThat(client.call("SET", "large", large)).isEqualTo("OK");
    assertThat(client.call("get", "large")).isEqualTo(large);
    assertThat(client.call("GET", "none")).isNull();
    assertThat(client.call("LPUSH", "list", "ä", "\r\n", "")).isEqualTo(3L);
    assertThat(client.call("LRANGE", "list", "0", "-1")).isEqualTo(List.of("", "\r\n", "ä"));

    assertThat(proxy.counts())
        .containsEntry("SET", 1L)
        .containsEntry("GET", 2L)
        .containsEntry("LPUSH", 1L);
    assertThat(proxy.count("LRANGE")).isEqualTo(1);
    assertThat(proxy.connections()).isEqualTo(1);
    proxy.resetCounts();
    assertThat(proxy.counts()).isEmpty();
  }

  @Test
  void aDelayedDirection_delaysEachMessageAndNotTheirThroughput() throws IOException {
    Duration delay = Duration.ofMillis(150);
    try (Fault fault = proxy.delay(Direction.TO_CLIENT, delay)) {
      long start = System.nanoTime();
      for (int i = 0; i < 20; i++) {
        client.send("PING");
      }
      for (int i = 0; i < 20; i++) {
        assertThat(client.read()).isEqualTo("PONG");
      }
      Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
      assertThat(elapsed).isBetween(delay, delay.multipliedBy(10));
      assertThat(fault.timesApplied()).isGreaterThanOrEqualTo(20);
    }
    try (Fault fault = proxy.delay(Direction.BOTH, delay)) {
      long start = System.nanoTime();
      client.call("PING");
      Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
      assertThat(elapsed).isGreaterThanOrEqualTo(delay.multipliedBy(2));
      assertThat(fault.timesApplied()).isEqualTo(2);
    }
  }

  @Test
  void aBlackHoleToTheServer_keepsRequestsFromIt_andTheConnectionOpen() throws IOException {
    Fault hole = proxy.blackHole(Direction.TO_SERVER);
    client.send("SET", "key", "value");
    assertNoReply(client);

    assertThat(hole.timesApplied()).isEqualTo(1);
    assertThat(redis.command("GET", "key")).isNull();
    assertThat(proxy.connections()).isEqualTo(1);
  }

  @Test
  void aBlackHoleToTheClient_letsTheServerAct() throws IOException {
    Fault hole = proxy.blackHole(Direction.TO_CLIENT);
    client.send("SET", "key", "value");
    awaitApplied(hole, 1);
    assertNoReply(client);

    assertThat(redis.command("GET", "key")).isEqualTo("value");
  }

  @Test
  void aBlackHoleSwallowsTheClosingToo_andItsConnectionsAreResetWhenItIsLifted()
      throws IOException {
    client.call("CLIENT", "SETNAME", "traveller");
    Fault hole = proxy.blackHole(Direction.BOTH);
    client.close();
    awaitApplied(hole, 1);
    assertThat(redis.command("CLIENT", "LIST")).asString().contains("name=traveller");

    try (RespClient late = newClient()) {
      late.send("PING");
      assertNoReply(late);
      hole.lift();
      assertThatThrownBy(late::read).isInstanceOf(SocketException.class);
    }
    Eventually.until(
        BOUND,
        "Redis to see the client leave",
        () -> String.valueOf(redis.command("CLIENT", "LIST")),
        list -> !list.contains("name=traveller"));
    Eventually.until(BOUND, "no connection", () -> proxy.connections() == 0);
    assertThat(pingOnce(proxy)).isEqualTo("PONG");
  }

  @Test
  void aBlackHoleSparesConnectionsThatLostNothing() throws IOException {
    proxy.blackHole(Direction.BOTH).lift();
    assertThat(client.call("PING")).isEqualTo("PONG");
  }

  @Test
  void aStall_deliversLateAndInOrder() throws IOException {
    Fault stall = proxy.stall(Direction.TO_SERVER);
    client.send("SET", "key", "value");
    client.send("GET", "key");
    assertNoReply(client);
    assertThat(stall.timesApplied()).isEqualTo(1);
    assertThat(redis.command("GET", "key")).isNull();

    stall.lift();
    assertThat(client.read()).isEqualTo("OK");
    assertThat(client.read()).isEqualTo("value");
  }

  @Test
  void aCutRequest_isNeverSeenByTheServer() throws IOException {
    Fault cut = proxy.cutRequest(Trigger.first(request -> request.contains("key")));
    assertThatThrownBy(() -> client.call("SET", "key", "value")).isInstanceOf(IOException.class);

    assertThat(cut.timesApplied()).isEqualTo(1);
    assertThat(redis.command("EXISTS", "key")).isEqualTo(0L);
    try (RespClient next = newClient()) {
      assertThat(next.call("SET", "key", "again")).isEqualTo("OK");
    }
  }

  @Test
  void aCutBeforeTheReply_comesWhenTheServerHasActed() {
    Fault cut = proxy.cutBeforeReply(Trigger.first(request -> request.is("SET")));
    assertThatThrownBy(() -> client.call("SET", "key", "value"))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining("reset");

    assertThat(cut.timesApplied()).isEqualTo(1);
    assertThat(redis.command("GET", "key")).isEqualTo("value");
    Eventually.until(BOUND, "no connection", () -> proxy.connections() == 0);
  }

  @Test
  void theReplyToTheNthMatchingRequestIsDropped_andNothingFollowsIt() throws IOException {
    Fault drop = proxy.dropReply(Trigger.nth(2, request -> request.is("INCR")));
    assertThat(client.call("INCR", "n")).isEqualTo(1L);
    assertThat(client.call("PING")).isEqualTo("PONG");
    client.send("INCR", "n");
    awaitApplied(drop, 1);
    client.send("PING");
    assertNoReply(client);

    assertThat(redis.command("GET", "n")).isEqualTo("2");
    try (RespClient other = newClient()) {
      assertThat(other.call("INCR", "n")).isEqualTo(3L);
    }
    drop.lift();
    assertThatThrownBy(client::read).isInstanceOf(SocketException.class);
  }

  @Test
  void repliesAreToldApartInAPipeline() throws IOException {
    Fault drop = proxy.dropReply(Trigger.first(request -> request.contains("third")));
    for (String word : List.of("first", "second", "third", "fourth")) {
      client.send("ECHO", word);
    }
    assertThat(client.read()).isEqualTo("first");
    assertThat(client.read()).isEqualTo("second");
    assertNoReply(client);
    assertThat(drop.timesApplied()).isGreaterThanOrEqualTo(1);
  }

  @Test
  void aHeldReplyComesLate() throws IOException {
    Fault hold = proxy.holdReply(Trigger.first(request -> request.is("SET")));
    client.send("SET", "key", "value");
    awaitApplied(hold, 1);
    assertThat(redis.command("GET", "key")).isEqualTo("value");
    assertNoReply(client);

    hold.lift();
    assertThat(client.read()).isEqualTo("OK");
    assertThat(hold.timesApplied()).isEqualTo(1);
  }

  @Test
  void aPublicationCanBeLost_andIsNotTakenForAReply() throws IOException {
    try (RespClient subscriber = newClient()) {
      assertThat(subscriber.call("SUBSCRIBE", "news")).isEqualTo(List.of("subscribe", "news", 1L));
      Fault lost = proxy.dropPush(push -> push.is("MESSAGE") && push.contains("bad"));
      redis.command("PUBLISH", "news", "bad");
      redis.command("PUBLISH", "news", "good");

      assertThat(subscriber.read()).isEqualTo(List.of("message", "news", "good"));
      assertThat(lost.timesApplied()).isEqualTo(1);

      Fault drop = proxy.dropReply(Trigger.first(request -> request.is("PING")));
      redis.command("PUBLISH", "news", "more");
      assertThat(subscriber.read()).isEqualTo(List.of("message", "news", "more"));
      assertThat(drop.timesApplied()).isZero();
      subscriber.send("PING");
      awaitApplied(drop, 1);
      assertNoReply(subscriber);
    }
  }

  @Test
  void newConnectionsAreRefused_andOldOnesGoOn() throws IOException {
    Fault refusal = proxy.refuseConnections();
    assertThatThrownBy(() -> pingOnce(proxy)).isInstanceOf(IOException.class);
    assertThat(refusal.timesApplied()).isEqualTo(1);
    assertThat(client.call("PING")).isEqualTo("PONG");

    proxy.heal();
    assertThat(pingOnce(proxy)).isEqualTo("PONG");
    assertThat(proxy.connectionsAccepted()).isEqualTo(3);
  }

  @Test
  void allConnectionsCanBeClosed() throws IOException {
    client.call("PING");
    assertThat(proxy.closeAll()).isEqualTo(1);
    assertThatThrownBy(() -> client.call("PING")).isInstanceOf(IOException.class);
    assertThat(proxy.connections()).isZero();
  }

  @Test
  void aServerThatIsGone_isSeenByTheClient_andFoundAgainWhenItIsBack() throws IOException {
    try (RedisServer mortal = RedisServer.start();
        FaultProxy front = FaultProxy.to(mortal.host(), mortal.port(), Protocol.RESP)) {
      try (RespClient before = RespClient.connect(front.host(), front.port())) {
        before.call("PING");
        mortal.kill();
        assertThatThrownBy(before::read).isInstanceOf(IOException.class);
      }
      assertThatThrownBy(() -> pingOnce(front)).isInstanceOf(IOException.class);
      mortal.restart();
      assertThat(pingOnce(front)).isEqualTo("PONG");
    }
  }

  private static Object pingOnce(FaultProxy through) throws IOException {
    try (RespClient once = RespClient.connect(through.host(), through.port())) {
      return once.call("PING");
    }
  }
}
