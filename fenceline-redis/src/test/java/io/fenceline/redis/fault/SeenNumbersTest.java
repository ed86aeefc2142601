package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.support.Clients;
import io.fenceline.testbed.server.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The data is lost, and the server's clock is behind what was granted: tokens still rise for every
 * client that has seen the larger ones, however it came to know them.
 */
class SeenNumbersTest {
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final Duration AHEAD = Duration.ofHours(1);

  private static RedisServer redis;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
  }

  @BeforeEach
  void numbersAheadOfTheClock() {
    redis.command("FLUSHALL");
    long clock = Duration.between(Instant.parse("2025-01-01T00:00:00Z"), Instant.now()).toMillis();
    String counter = new String(Layout.counter(bucket()), StandardCharsets.UTF_8);
    redis.command("SET", counter, Long.toString((clock + AHEAD.toMillis()) * 16));
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  private static int bucket() {
    return Layout.place("ledger").bucket();
  }

  private Fenceline client() {
    return clients.connect(redis.uri(), LEASE);
  }

  /** Lets a client wait until another one releases. */
  private static Hold handedOver(Fenceline to, Fenceline from, Hold held) {
    CompletableFuture<Hold> waiting = to.lock("ledger").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(from, "ledger", 1);
    held.release();
    return Clients.get(waiting);
  }

  @Test
  void grantThatCameByMessage_isRemembered() {
    Fenceline first = client();
    Fenceline second = client();
    Hold handedOver;
    long claims;
    do { // On a busy machine it may come with an answer instead.
      Hold held = Clients.acquire(first, "ledger");
      long before = redis.commandCount("mget"); // Of claims only.
      handedOver = handedOver(second, first, held);
      claims = redis.commandCount("mget") - before;
      handedOver.release();
    } while (claims > 1);

    redis.command("FLUSHALL");

    assertThat(Clients.acquire(second, "ledger").token()).isGreaterThan(handedOver.token());
  }

  @Test
  void handOver_isAboveWhatItsWaiterHasSeen() {
    Fenceline knowing = client();
    Hold seen = Clients.acquire(knowing, "ledger");
    seen.release();
    redis.command("FLUSHALL");
    Fenceline stranger = client();
    Hold behind = Clients.acquire(stranger, "ledger");
    assertThat(behind.token()).isLessThan(seen.token()); // Declared: it has seen nothing.

    assertThat(handedOver(knowing, stranger, behind).token()).isGreaterThan(seen.token());
  }

  @Test
  void waiter_remembersTheNumbersThatItWasTold() {
    Fenceline holding = client();
    Fenceline waiting = client();
    Hold held = Clients.acquire(holding, "ledger");
    CompletableFuture<Hold> given = waiting.lock("ledger").acquireAsync(Clients.AMPLE);
    Clients.awaitWaiters(holding, "ledger", 1);

    redis.command("FLUSHALL"); // It asks again, and finds the name free.

    assertThat(Clients.get(given).token()).isGreaterThan(held.token());
  }
}
