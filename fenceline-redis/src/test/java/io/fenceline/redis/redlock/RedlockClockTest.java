package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.redis.RedlockStores;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.redlock.RedlockAnswers.Vote;
import io.fenceline.redis.support.Clients;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Nodes of a Redlock whose clocks the test sets: time passes at them, or goes back. */
@Execution(ExecutionMode.CONCURRENT)
class RedlockClockTest {
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final String NAME = "ledger";
  private static final byte[] CLIENT = "test\nhost\n1".getBytes(StandardCharsets.UTF_8);

  @RegisterExtension final Clients clients = new Clients();

  private final Random owners = new Random();
  private final List<FaultProxy> proxies = new ArrayList<>();
  private RedlockServers nodes;

  @BeforeEach
  void start() {
    nodes = RedlockServers.start(3, () -> RedisServer.builder().fakeTime().start());
    for (RedisServer node : nodes.all()) {
      proxies.add(FaultProxy.to(node.host(), node.port(), Protocol.RESP));
      for (Script script : Script.values()) { // So that a request can be told by its hash.
        node.command("SCRIPT", "LOAD", new String(script.body(), StandardCharsets.US_ASCII));
      }
    }
  }

  @AfterEach
  void stop() {
    clients.afterEach(null);
    proxies.forEach(FaultProxy::close);
    nodes.close();
  }

  private RedlockStore store(String uri) {
    AtomicReference<LockStore> opened = new AtomicReference<>();
    clients.connect(
        Fenceline.builder()
            .store(
                (StoreFactory)
                    context -> {
                      opened.set(RedlockStores.at(uri).open(context));
                      return opened.get();
                    })
            .operationTimeout(Duration.ofSeconds(30)));
    return (RedlockStore) opened.get();
  }

  private RedlockStore direct() {
    return store(nodes.uri());
  }

  private RedlockStore proxied() {
    return store(
        proxies.stream().map(FaultProxy::address).collect(Collectors.joining(",", "redlock://", ""))
            + "?nodeTimeout=10s");
  }

  private ClaimRequest request(Mode mode) {
    return new ClaimRequest(NAME, Owner.draw(owners), mode, LEASE, Duration.ZERO, false);
  }

  private static CompletableFuture<HeldGrant> claim(LockStore store, ClaimRequest request) {
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

  private boolean isGranted(LockStore store) {
    return Clients.get(
        claim(store, request(Mode.EXCLUSIVE)).handle((grant, failure) -> failure == null));
  }

  private static boolean has(RedisServer node) {
    return Long.valueOf(1).equals(node.command("EXISTS", "fl1:r:" + NAME));
  }

  private static long secondsAhead(RedisServer node) {
    List<?> time = (List<?>) node.command("TIME");
    return Long.parseLong(String.valueOf(time.get(0))) - Instant.now().getEpochSecond();
  }

  private static void setClock(RedisServer node, Duration ahead) {
    node.clockOffset(ahead);
    Eventually.until(
        Clients.AMPLE,
        "the clock to be set",
        () -> Math.abs(secondsAhead(node) - ahead.toSeconds()) <= 2);
  }

  private static Vote claimAt(RedlockStore store, ClaimRequest claim, PermitSlots slots) {
    RedlockRequest request = RedlockRequest.of(claim, slots, 1);
    return Vote.parse(
        Clients.get(
            store
                .nodes()
                .all
                .get(0)
                .call(
                    Purpose.CLAIMS,
                    Script.REDLOCK_CLAIM,
                    request.keys(),
                    run -> request.firstRound(run, 0, CLIENT, new byte[0]))));
  }

  /**
   * A renewal reaches one node, which loses its memory before the renewal reaches another one. The
   * third is not reached, and its lease ends.
   */
  @Test
  void nodeThatForgetsARenewal_waitsForItsWholeTerm_notForWhatIsLeftAtTheOthers() {
    RedlockStore store = proxied();
    RedlockStore other = direct();
    HeldGrant grant = Clients.get(claim(store, request(Mode.EXCLUSIVE)));
    Eventually.until(
        Clients.AMPLE, "all to have it", () -> nodes.all().stream().allMatch(n -> has(n)));
    nodes.all().forEach(node -> setClock(node, Duration.ofSeconds(50)));
    Fault late = proxies.get(0).holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_RENEW)));
    proxies.get(2).blackHole(Direction.TO_SERVER);
    nodes.get(1).resetCommandCounts();
    CompletableFuture<Renewal> renewal =
        store.renew(List.of(new RenewRequest(grant, LEASE))).get(0);
    Eventually.until(
        Clients.AMPLE,
        "one node to have renewed it",
        () -> late.timesApplied() > 0 && nodes.get(1).commandCount("evalsha") > 0);

    nodes.get(1).command("FLUSHALL");
    Eventually.until(
        Clients.AMPLE,
        "others to say for how long it waits",
        () -> {
          isGranted(other);
          return nodes.get(1).command("HGET", "fl1:r!", "until") != null;
        });
    late.lift();
    assertThat(Clients.get(renewal)).isInstanceOf(Renewal.Renewed.class);

    assertThat(secondsToWait(nodes.get(1))).isGreaterThan(30);
    nodes.all().forEach(node -> setClock(node, Duration.ofSeconds(65))); // Over at the third.
    assertThat(isGranted(other)).as("a second holder").isFalse();
  }

  private static long secondsToWait(RedisServer node) {
    long until = Long.parseLong(String.valueOf(node.command("HGET", "fl1:r!", "until"))) / 1_000;
    return until - Instant.now().getEpochSecond() - secondsAhead(node);
  }

  @Test
  void clockThatGoesBackALittle_doesNotLetInWhatIsTurnedAway() {
    RedlockStore store = direct();
    ClaimRequest claim = request(Mode.EXCLUSIVE);
    byte[][] undo = RedlockRequest.withdrawal(claim.owner().bytes(), 1, LEASE.toMillis());
    Clients.get(
        store
            .nodes()
            .all
            .get(0)
            .call(Purpose.CLAIMS, Script.REDLOCK_END, RedlockLayout.keys(NAME), run -> undo));

    setClock(nodes.get(0), Duration.ofSeconds(-5));

    assertThat(claimAt(store, claim, PermitSlots.NONE)).isInstanceOf(RedlockAnswers.Late.class);
  }

  /** Whoever asks in another mode is refused; that is no reason to look at the clock anew. */
  @Test
  void clockThatIsSetBack_costsOneLease_whateverIsAsked() {
    RedlockStore store = direct();
    ClaimRequest permit = request(Mode.permits(1, 2));
    assertThat(claimAt(store, permit, new PermitSlots(List.of(0))).votes()).isTrue();
    setClock(nodes.get(0), Duration.ofHours(-1));
    ClaimRequest other = request(Mode.EXCLUSIVE);
    assertThat(claimAt(store, other, PermitSlots.NONE))
        .isInstanceOf(RedlockAnswers.OtherMode.class);

    setClock(nodes.get(0), Duration.ofHours(-1).plus(LEASE).plusSeconds(5));

    assertThat(claimAt(store, other, PermitSlots.NONE)).isInstanceOf(RedlockAnswers.Granted.class);
  }
}
