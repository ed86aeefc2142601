package io.fenceline.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.event.LockListener;
import io.fenceline.event.StoreFailed;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.replay.RecordedRequest;
import io.fenceline.redis.replay.Recording;
import io.fenceline.redis.replay.RedisDialect;
import io.fenceline.redis.replay.Replay;
import io.fenceline.redis.replay.ReplayServer;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.Stores;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Requests that come late or twice do no harm at the server; and what earlier scripts and an
 * earlier client did wrong is noticed. The requests of the contract are replayed by {@link
 * SingleContractTest}.
 */
class ReplayTest {
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final Duration APART = Duration.ofMillis(1_300);
  private static final RedisDialect DIALECT = new RedisDialect();

  private static RedisServer redis;
  private static Stores.Opened opened;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    opened = Stores.open(redis.uri());
    // Else the first that waits asks once more as soon as it is.
    Clients.get(((RedisStore) opened.store()).topology().listen(0));
  }

  @AfterAll
  static void stop() {
    opened.store().close();
    redis.close();
  }

  // What is recorded. ---------------------------------------------------------------------------

  private static ClaimRequest claim(String name, Mode mode, boolean waits) {
    return new ClaimRequest(
        name, Owner.draw(opened.random()), mode, LEASE, Duration.ZERO, waits, true);
  }

  private static void release(RenewRequest held, Duration keepClosed) {
    Clients.get(opened.store().release(new ReleaseRequest(held.grant(), keepClosed)));
  }

  private static void awaitWaiter(String name) {
    Eventually.until(
        Clients.AMPLE,
        "a waiter",
        () -> !Clients.get(opened.store().inspect(name)).waiters().isEmpty());
  }

  /** Two that share a name give it back, and keep their parts closed. */
  private static List<RecordedRequest> keptClosed() {
    try (Recording recording = Recording.of(redis)) {
      for (Mode mode : List.of(Mode.SHARED, Mode.permits(1, 3))) {
        String name = "kept-" + mode.family().length();
        RenewRequest one = Clients.get(Stores.claim(opened, claim(name, mode, false)));
        RenewRequest two = Clients.get(Stores.claim(opened, claim(name, mode, false)));
        release(one, LEASE);
        release(two, LEASE);
      }
      return recording.requests(DIALECT);
    }
  }

  /** A waiter that must ask for itself is never heard of again, while others come and go. */
  private static List<RecordedRequest> deadHead(String name) {
    try (Recording recording = Recording.of(redis)) {
      RenewRequest held = Clients.get(Stores.claim(opened, claim(name, Mode.EXCLUSIVE, false)));
      Stores.claim(opened, claim(name, Mode.EXCLUSIVE, true));
      awaitWaiter(name);
      release(held, Duration.ZERO);
      for (int i = 0; i < 4; i++) {
        ClaimRequest visitor = claim(name, Mode.EXCLUSIVE, true);
        Stores.claim(opened, visitor);
        Clients.get(opened.store().withdraw(visitor));
      }
      return apart(recording.requests(DIALECT), APART);
    }
  }

  /** The only one that is left is dead; when its time is over, another one comes. */
  private static List<RecordedRequest> refilled(String name) {
    try (Recording recording = Recording.of(redis)) {
      RenewRequest held = Clients.get(Stores.claim(opened, claim(name, Mode.EXCLUSIVE, false)));
      Stores.claim(
          opened,
          new ClaimRequest(
              name, Owner.draw(opened.random()), Mode.EXCLUSIVE, LEASE, Duration.ZERO, true));
      awaitWaiter(name);
      release(held, Duration.ZERO);
      CompletableFuture<RenewRequest> refused =
          Stores.claim(
              opened,
              new ClaimRequest(
                  name,
                  Owner.draw(opened.random()),
                  Mode.EXCLUSIVE,
                  Duration.ofSeconds(2), // It ends before the keys would have.
                  Duration.ZERO,
                  false));
      Eventually.until(Clients.AMPLE, "the answer", refused::isDone);
      return recording.requests(DIALECT);
    }
  }

  /** The same requests, so far from each other: what time brings is part of it. */
  private static List<RecordedRequest> apart(List<RecordedRequest> requests, Duration distance) {
    List<RecordedRequest> all = new ArrayList<>();
    for (RecordedRequest request : requests) {
      if (request.call().script() != Script.INSPECT) {
        all.add(request.at((all.size() + 1) * distance.toNanos() / 1_000));
      }
    }
    return all;
  }

  /** A grant that its replica acknowledges at the second attempt only. */
  private List<RecordedRequest> acknowledgedLate() {
    try (RedisServer master = RedisServer.start();
        RedisServer replica = RedisServer.builder().replicaOf(master).start();
        Recording recording = Recording.of(master)) {
      replica.awaitInSync(Clients.AMPLE);
      Set<String> failed = new ConcurrentSkipListSet<>();
      Fenceline client =
          clients.connect(
              Fenceline.builder()
                  .store(master.uri() + "?wait=1&waitTimeout=300ms")
                  .listener(
                      new LockListener() {
                        @Override
                        public void onStoreFailed(StoreFailed event) {
                          failed.add(event.operation());
                        }
                      })
                  .defaultOptions(LockOptions.defaults().lease(LEASE)));
      replica.pause();
      CompletableFuture<Hold> claim = client.lock("late").acquireAsync(Clients.AMPLE);
      Eventually.until(Clients.AMPLE, "a failure", () -> failed.contains("claim"));
      replica.resume();
      Clients.get(claim).release();
      List<RecordedRequest> requests = recording.requests(DIALECT);
      clients.afterEach(null);
      return requests;
    }
  }

  // What is found. ------------------------------------------------------------------------------

  private static Set<String> findings(
      List<RecordedRequest> requests, UnaryOperator<String> change) {
    try (ReplayServer server = new ReplayServer(DIALECT, change)) {
      Replay replay = new Replay(server, DIALECT);
      replay.playAll(requests);
      assertThat(replay.runs()).isGreaterThan(10);
      return replay.findings().keySet();
    }
  }

  private static Set<String> findings(List<RecordedRequest> requests) {
    return findings(requests, script -> script);
  }

  /** Finds what it must, if a part of the scripts is as it was before. */
  private static void assertFound(
      List<RecordedRequest> requests, String now, String before, String rule) {
    assertThat(new String(Script.CLAIM.body(), US_ASCII)).contains(now);
    assertThat(findings(requests, script -> script.replace(now, before))).contains(rule);
  }

  @Test
  void partThatIsKeptClosed_staysClosed() {
    List<RecordedRequest> requests = keptClosed();

    assertThat(findings(requests)).isEmpty();
    assertFound(
        requests,
        "if letter == 'k' then",
        "if letter == 'k' and false then",
        "I7: what is taken is not the sum");
  }

  @Test
  void waiterThatIsNotHeardOf_isPassedOver() {
    List<RecordedRequest> requests = deadHead("dead");

    assertThat(findings(requests)).isEmpty();
    assertFound(
        requests,
        "if deadline > now + HAND_OVER then",
        "if true then",
        "I7: a waiter that did not ask stays for longer");
  }

  @Test
  void tableThatIsEmptiedAndFilledAgain_expires() {
    List<RecordedRequest> requests = apart(refilled("refilled"), Duration.ofMillis(2_500));

    assertThat(findings(requests)).isEmpty();
    assertFound(
        requests,
        "total, taken, lives_until = total_wanted, 0, 0",
        "total, taken = total_wanted, 0",
        "I7: a key never expires");
  }

  /** A server may stand still between any two commands of a script. */
  @Test
  void serverThatStandsStill_endsNoGrantSooner() {
    String look = "local left = redis.call('PTTL', key)";
    String standStill =
        """
        local from = redis.call('TIME')
        local passed = 0
        while passed < 0.03 do
          local to = redis.call('TIME')
          passed = (to[1] - from[1]) + (to[2] - from[2]) / 1000000
        end
        """;
    List<RecordedRequest> requests = refilled("still");

    assertThat(new String(Script.CLAIM.body(), US_ASCII)).contains(look);
    assertThat(findings(requests, script -> script.replace(look, standStill + look))).isEmpty();
    assertThat(
            findings(
                requests,
                script ->
                    script
                        .replace(look, standStill + look)
                        .replace("read[1] * 1000 + math.floor(read[2] / 1000)", "now")))
        .contains("I5: a grant ends sooner");
  }

  @Test
  void grantThatIsAcknowledgedLate_isNotUndone() {
    List<RecordedRequest> requests = acknowledgedLate();

    assertThat(requests)
        .extracting(request -> request.call().script())
        .contains(Script.CLAIM)
        .doesNotContain(Script.WITHDRAW);
    assertThat(findings(requests)).isEmpty();
    assertThat(findings(withdrawnInBetween(requests)))
        .containsExactly("I5: an undo has ended what its owner was granted afterwards");
  }

  /** As a client would send it that withdraws what was not acknowledged, and then asks again. */
  private static List<RecordedRequest> withdrawnInBetween(List<RecordedRequest> requests) {
    List<RecordedRequest> all = new ArrayList<>();
    for (RecordedRequest request : requests) {
      all.add(request.as(all.size()));
      if (all.size() == 1) {
        Call claim = request.call();
        Call undo = new Call(Script.WITHDRAW, claim.keys(), claim.args()[0]);
        all.add(new RecordedRequest(1, request.micros(), undo, DIALECT.touches(undo)));
      }
    }
    return all;
  }
}
