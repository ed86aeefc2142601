package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
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
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The server has acted, and the client does not hear of it. */
class LostReplyTest {
  private static final Duration LEASE = Duration.ofSeconds(5);

  private static RedisServer redis;
  private static FaultProxy proxy;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
    for (Script script : Script.values()) { // So that each call is one command that acts.
      redis.command("SCRIPT", "LOAD", new String(script.body(), StandardCharsets.US_ASCII));
    }
  }

  @AfterEach
  void heal() {
    proxy.heal();
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
  void claimWithoutAnAnswer_fails_andIsUndone() {
    Fenceline client = clients.hasty(uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Fault lost = proxy.dropReply(Trigger.first(Clients.calls(Script.CLAIM_UNCONTENDED)));

    assertThatThrownBy(() -> client.lock("claim").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("claim");

    assertThat(lost.timesApplied()).isPositive();
    Clients.awaitFree(other, "claim", LEASE.plus(LEASE));
    assertThat(other.lock("claim").tryAcquire()).isPresent();
  }

  @Test
  void claimsWhoseConnectionBreaks_areNotSentAgainByTheDriver() {
    Fenceline client = clients.connect(uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    redis.resetCommandCounts();
    Fault stall = proxy.stall(Direction.TO_CLIENT);

    List<CompletableFuture<Optional<Hold>>> claims = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      claims.add(client.lock("replay-" + i).tryAcquireAsync());
    }
    // All are done, none is answered.
    for (int i = 0; i < 5; i++) {
      String name = "replay-" + i;
      Eventually.until(Clients.AMPLE, name, () -> !other.inspect(name).isFree());
    }
    long writes = redis.commandCount("set") + redis.commandCount("mset");
    assertThat(proxy.closeAll()).isPositive();
    stall.lift();

    for (int i = 0; i < 5; i++) {
      assertThatThrownBy(claims.get(i)::get).hasCauseInstanceOf(StoreUnavailableException.class);
      Clients.awaitFree(other, "replay-" + i, LEASE.plus(LEASE)); // Undone over a new connection.
    }
    assertThat(stall.timesApplied()).isPositive();
    assertThat(redis.commandCount("set") + redis.commandCount("mset")).isEqualTo(writes);
  }

  @Test
  void waitingClaimWithoutAnAnswer_asksAgain_andIsServed() {
    Fenceline client = clients.hasty(uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Fault lost = proxy.dropReply(Trigger.first(Clients.calls(Script.CLAIM_UNCONTENDED)));

    Hold hold = Clients.acquire(client, "ask-again");

    assertThat(lost.timesApplied()).isPositive();
    assertThat(hold.isValid()).isTrue();
    assertThat(other.inspect("ask-again").holders()).hasSize(1);
    assertThat(other.inspect("ask-again").holders().get(0).id()).isEqualTo(hold.id());
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
  }

  @Test
  void renewalWithoutAnAnswer_isRepeated_andTheHoldLives() {
    Fenceline client = clients.hasty(uri(), LEASE);
    Fault lost = proxy.dropReply(Trigger.first(Clients.calls(Script.RENEW)));
    Hold hold = Clients.acquire(client, "renew");
    long start = System.nanoTime();

    Eventually.until(Clients.AMPLE, "the renewal to be lost", () -> lost.timesApplied() > 0);
    Eventually.until(
        Clients.AMPLE,
        "more than a lease to pass",
        () -> System.nanoTime() - start > LEASE.multipliedBy(2).toNanos());

    assertThat(hold.isValid()).isTrue();
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
  }

  @Test
  void releaseWithoutAnAnswer_isUnknown_andItsRepeatHurtsNobody() {
    Fenceline client = clients.hasty(uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Hold hold = Clients.acquire(client, "release");
    Fault lost = proxy.dropReply(Trigger.first(Clients.calls(Script.RELEASE_UNCONTENDED)));

    CompletableFuture<ReleaseOutcome> released = hold.releaseAsync();
    Hold next = Clients.acquire(other, "release");
    long before = redis.commandCount("evalsha");

    assertThat(Clients.get(released)).isEqualTo(ReleaseOutcome.UNKNOWN);
    assertThat(lost.timesApplied()).isPositive();
    Eventually.until(Clients.AMPLE, "the repeat", () -> redis.commandCount("evalsha") > before);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(other.inspect("release").holders().get(0).id()).isEqualTo(next.id());
    assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
  }

  @Test
  void withdrawalWithoutAnAnswer_isRepeated_andLeavesNothing() {
    Fenceline client = clients.hasty(uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Hold hold = Clients.acquire(other, "withdraw");
    CompletableFuture<Hold> waiting = client.lock("withdraw").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(other, "withdraw", 1);
    Fault lost = proxy.dropReply(Trigger.first(Clients.calls(Script.WITHDRAW)));

    waiting.cancel(true);

    Clients.awaitWaiters(other, "withdraw", 0);
    Eventually.until(Clients.AMPLE, "the loss", () -> lost.timesApplied() > 0);
    hold.release();
    Clients.awaitFree(other, "withdraw", Clients.AMPLE);
  }

  @Test
  void messageThatIsLost_costsAPollAndNotMore() {
    Fenceline client = clients.connect(uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Hold hold = Clients.acquire(other, "deaf");
    CompletableFuture<Hold> waiting = client.lock("deaf").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(other, "deaf", 1);
    Eventually.until(
        Clients.AMPLE,
        "a subscription",
        () -> !((java.util.List<?>) redis.command("PUBSUB", "CHANNELS")).isEmpty());
    Fault deaf = proxy.dropPush(frame -> frame.is("message"));

    hold.release();
    Hold got = Clients.get(waiting);

    assertThat(deaf.timesApplied()).isEqualTo(1);
    assertThat(got.isValid()).isTrue();
    assertThat(got.token()).isGreaterThan(hold.token());
  }

  @Test
  void subscriptionThatDiedSilently_isNoticedAndReplaced() {
    Fenceline client = clients.hasty(uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Hold hold = Clients.acquire(other, "silent");
    proxy.resetCounts();
    CompletableFuture<Hold> waiting = client.lock("silent").acquireAsync(Clients.AMPLE);
    Eventually.until(Clients.AMPLE, "a subscription", () -> proxy.count("SUBSCRIBE") == 1);
    // Only a connection for messages is asked for a sign of life; from then on it says nothing.
    Fault dead = proxy.dropReply(Trigger.first(frame -> frame.is("PING")));

    Eventually.until(Clients.AMPLE, "another subscription", () -> proxy.count("SUBSCRIBE") == 2);

    assertThat(dead.timesApplied()).isPositive();
    assertThat(waiting).isNotDone();
    hold.release();
    assertThat(Clients.get(waiting).token()).isGreaterThan(hold.token());
  }

  @Test
  void subscriptionThatFallsSilentWhileItIsMade_isReplaced() {
    Fenceline client = clients.hasty(uri(), LEASE);
    Fenceline other = clients.connect(redis.uri(), LEASE);
    Hold hold = Clients.acquire(other, "half-made");
    proxy.resetCounts();
    CompletableFuture<Hold> waiting = client.lock("half-made").acquireAsync(Clients.AMPLE);
    Eventually.until(Clients.AMPLE, "a subscription", () -> proxy.count("SUBSCRIBE") == 1);
    Fault silent = proxy.holdRequest(Trigger.first(frame -> frame.is("SUBSCRIBE")));

    redis.command("CLIENT", "KILL", "TYPE", "pubsub");

    Eventually.until(Clients.AMPLE, "a third subscription", () -> proxy.count("SUBSCRIBE") >= 3);
    assertThat(silent.timesApplied()).isEqualTo(1);
    hold.release();
    assertThat(Clients.get(waiting).token()).isGreaterThan(hold.token());
  }

  @Test
  void serverThatSaysNothing_failsRequestsInTime_andIsReachedAgain() {
    Fenceline client = clients.hasty(uri(), LEASE);
    Fault silent = proxy.blackHole(Direction.TO_CLIENT);
    long start = System.nanoTime();

    assertThatThrownBy(() -> client.lock("silence").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    assertThat(silent.timesApplied()).isPositive();
    silent.lift();
    Hold hold = Clients.acquire(client, "silence");
    assertThat(hold.isValid()).isTrue();
  }
}
