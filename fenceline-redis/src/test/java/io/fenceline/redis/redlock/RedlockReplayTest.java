package io.fenceline.redis.redlock;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.redis.RedlockStores;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.replay.RecordedRequest;
import io.fenceline.redis.replay.Recording;
import io.fenceline.redis.replay.Replay;
import io.fenceline.redis.replay.ReplayServer;
import io.fenceline.redis.support.Clients;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Requests that come late or twice do no harm at a node of a Redlock; and what earlier scripts did
 * wrong is noticed. What is recorded is what one of three nodes gets.
 */
class RedlockReplayTest {
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final String NAME = "ledger";
  private static final RedlockDialect DIALECT = new RedlockDialect();

  @RegisterExtension final Clients clients = new Clients();

  private final Random owners = new Random();
  private RedlockServers nodes;
  private LockStore store;

  /** Draws the same slots each time, so that claims of permits meet. */
  private static final class Predictable extends Random {
    private static final long serialVersionUID = 1L;

    @Override
    public long nextLong() {
      return 42;
    }
  }

  @BeforeEach
  void start() {
    nodes = RedlockServers.start(3);
    AtomicReference<LockStore> opened = new AtomicReference<>();
    clients.connect(
        Fenceline.builder()
            .store(
                (StoreFactory)
                    context -> {
                      StoreContext predictable =
                          new StoreContext(
                              context.client(),
                              context.time(),
                              new Predictable(),
                              context.connectTimeout(),
                              context.operationTimeout());
                      // A node that is slow to answer would be undone, and is no part of this.
                      String patient = nodes.uri().replace("nodeTimeout=1s", "nodeTimeout=10s");
                      opened.set(RedlockStores.at(patient).open(predictable));
                      return opened.get();
                    }));
    store = opened.get();
  }

  @AfterEach
  void stop() {
    clients.afterEach(null);
    nodes.close();
  }

  private CompletableFuture<HeldGrant> claim(Mode mode, boolean waits) {
    ClaimRequest request =
        new ClaimRequest(NAME, Owner.draw(owners), mode, LEASE, Duration.ZERO, waits);
    CompletableFuture<HeldGrant> outcome = new CompletableFuture<>();
    store.claim(
        request,
        new ClaimHandler() {
          @Override
          public void granted(Grant grant) {
            outcome.complete(new HeldGrant(request, grant.number()));
          }

          @Override
          public void waiting(Obstacle obstacle) {}

          @Override
          public void refused(Obstacle obstacle) {
            outcome.completeExceptionally(new AssertionError(request.name() + " is held"));
          }

          @Override
          public void failed(RuntimeException cause) {
            outcome.completeExceptionally(cause);
          }
        });
    return outcome;
  }

  private void release(HeldGrant held) {
    Clients.get(store.release(new ReleaseRequest(held, Duration.ZERO)));
  }

  private boolean has(RedisServer node) {
    return Long.valueOf(1).equals(node.command("EXISTS", "fl1:r:" + NAME));
  }

  private void awaitAll() {
    Eventually.until(
        Clients.AMPLE, "all to have it", () -> nodes.all().stream().allMatch(this::has));
  }

  private static long calls(Recording recording, Script script) {
    return recording.requests(DIALECT).stream()
        .filter(request -> request.call().script() == script)
        .count();
  }

  /** One that waits makes several attempts, and undoes all but the last. */
  private List<RecordedRequest> contended(Mode mode) {
    try (Recording recording = Recording.of(nodes.get(0))) {
      HeldGrant held = Clients.get(claim(mode, false));
      CompletableFuture<HeldGrant> waiting = claim(mode, true);
      Eventually.until(
          Clients.AMPLE,
          "an attempt to be undone, or not to be needed",
          () -> waiting.isDone() || calls(recording, Script.REDLOCK_END) > 0);
      if (!waiting.isDone()) {
        release(held);
      }
      HeldGrant second = Clients.get(waiting);
      for (int i = 0; i < 4; i++) { // Something has to come in between.
        renew(second);
      }
      release(second);
      return recording.requests(DIALECT);
    }
  }

  private void renew(HeldGrant held) {
    assertThat(Clients.get(store.renew(List.of(new RenewRequest(held, LEASE))).get(0)))
        .isInstanceOf(Renewal.Renewed.class);
  }

  private List<RecordedRequest> givenAndForced() {
    try (Recording recording = Recording.of(nodes.get(0))) {
      HeldGrant held = Clients.get(claim(Mode.EXCLUSIVE, false));
      awaitAll();
      RedlockServers.free(nodes.get(0), NAME);
      renew(held);
      awaitAll();
      assertThat(Clients.get(store.forceRelease(NAME, held.number()))).isTrue();
      release(Clients.get(claim(Mode.EXCLUSIVE, true)));
      return recording.requests(DIALECT);
    }
  }

  private static Map<String, String> findings(
      List<RecordedRequest> requests, UnaryOperator<String> change) {
    try (ReplayServer server = new ReplayServer(DIALECT, change)) {
      Replay replay = new Replay(server, DIALECT);
      replay.playAll(requests);
      assertThat(replay.runs()).isGreaterThan(10);
      return replay.findings();
    }
  }

  private static void assertFound(
      List<RecordedRequest> requests, Script script, String now, String before, String rule) {
    assertThat(findings(requests, text -> text)).isEmpty();
    assertThat(new String(script.body(), US_ASCII)).contains(now);
    assertThat(findings(requests, text -> text.replace(now, before))).containsKey(rule);
  }

  @Test
  void undoOfAnEarlierAttempt_endsNothingNewer() {
    assertFound(
        contended(Mode.EXCLUSIVE),
        Script.REDLOCK_END,
        "if held and held[11] > attempt then",
        "if held and false then",
        "I5: an undo has ended what its owner was granted afterwards");
  }

  @Test
  void claimOfAnEarlierAttempt_forOtherPermits_replacesNothingNewer() {
    assertFound(
        contended(Mode.permits(1, 2)),
        Script.REDLOCK_CLAIM,
        "if attempt < held[11] and not (same and held[11] == HELD) then",
        "if false then",
        "I5: a grant was ended by another's request");
  }

  @Test
  void giftThatComesAfterForce_bringsNothingBack() {
    assertFound(
        givenAndForced(),
        Script.REDLOCK_RESTORE,
        "if token <= forced or is_over(record, owner, HELD) or",
        "if",
        "I5: what was ended by force came back");
  }
}
