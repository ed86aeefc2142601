package io.fenceline.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.redis.RedlockStores;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.support.Clients;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Requests to a node of a Redlock that arrive late: after the attempt or the hold that they were
 * for, on a connection that was given up long ago. None of them may take a node away from the hold
 * that its owner has by then, or leave behind what nobody owns.
 *
 * <p>Three nodes. The client under test reaches them through proxies; others reach them directly.
 * Leases are too long to matter.
 */
class RedlockLateTest {
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final String NAME = "ledger";
  private static final byte[] SOMEONE = "late\nhost\n1".getBytes(StandardCharsets.UTF_8);

  @RegisterExtension final Clients clients = new Clients();

  private final List<FaultProxy> proxies = new ArrayList<>();
  private final Random owners = new Random();
  private RedlockServers nodes;

  @BeforeEach
  void start() {
    nodes = RedlockServers.start(3);
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

  /** Draws the same slots each time, so that claims of permits meet. */
  private static final class Predictable extends Random {
    private static final long serialVersionUID = 1L;

    @Override
    public long nextLong() {
      return 42;
    }
  }

  private LockStore store(String uri, Duration operationTimeout) {
    AtomicReference<LockStore> opened = new AtomicReference<>();
    clients.connect(
        Fenceline.builder()
            .store(
                (StoreFactory)
                    context -> {
                      LockStore store =
                          RedlockStores.at(uri)
                              .open(
                                  new StoreContext(
                                      context.client(),
                                      context.time(),
                                      new Predictable(),
                                      context.connectTimeout(),
                                      context.operationTimeout()));
                      opened.set(store);
                      return store;
                    })
            .operationTimeout(operationTimeout));
    return opened.get();
  }

  /** The store of a client that gives a silent connection up before it stops waiting for a node. */
  private LockStore proxied() {
    return store(addressesOfProxies(), Duration.ofMillis(500));
  }

  private String addressesOfProxies() {
    String addresses = proxies.stream().map(FaultProxy::address).collect(Collectors.joining(","));
    return "redlock://" + addresses + "?nodeTimeout=10s";
  }

  /** One that waits for nodes that are slow. */
  private LockStore direct() {
    return store(nodes.uri().replace("nodeTimeout=1s", "nodeTimeout=3s"), Duration.ofSeconds(3));
  }

  private ClaimRequest request(Mode mode, boolean waits) {
    return new ClaimRequest(NAME, Owner.draw(owners), mode, LEASE, Duration.ZERO, waits);
  }

  /** What came of a claim: a grant, or nothing. */
  private static CompletableFuture<Boolean> claim(LockStore store, ClaimRequest request) {
    return grant(store, request).handle((grant, failure) -> failure == null);
  }

  private static CompletableFuture<HeldGrant> grant(LockStore store, ClaimRequest request) {
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
            if (request.waits()) {
              grant(store, request).whenComplete((g, f) -> pass(g, f)); // As the runtime does.
            } else {
              outcome.completeExceptionally(cause);
            }
          }

          private void pass(HeldGrant grant, Throwable failure) {
            if (failure == null) {
              outcome.complete(grant);
            } else {
              outcome.completeExceptionally(failure);
            }
          }
        });
    return outcome;
  }

  private boolean isGranted(LockStore store, Mode mode) {
    return Clients.get(claim(store, request(mode, false)));
  }

  /** Waits, far less than a lease: a node that is slow to answer is not one that refuses. */
  private void awaitGranted(LockStore store, Mode mode) {
    Eventually.until(Clients.AMPLE, "a grant", () -> isGranted(store, mode));
  }

  /** The client behind the proxies does not get through to a node any more, and is not told so. */
  private void cutOff(int node) {
    proxies.get(node).blackHole(Direction.TO_SERVER);
  }

  private static void awaitStruck(Fault fault) {
    Eventually.until(Clients.AMPLE, fault + " to strike", () -> fault.timesApplied() > 0);
  }

  /**
   * Lets the request go that is held on its way to the first node, on a connection that its client
   * has given up, and waits until the node has carried it out.
   *
   * @param other the only one who may have requests under way besides
   */
  private void deliver(Fault held, LockStore other) {
    assertThat(hasAnswered(other, Purpose.CLAIMS)).isTrue();
    nodes.get(0).resetCommandCounts();
    held.lift();
    Eventually.until(
        Clients.AMPLE,
        "the late request to be carried out",
        () -> nodes.get(0).commandCount("evalsha") > 0);
  }

  /** Whether the first node has answered all that it was asked before this. */
  private static boolean hasAnswered(LockStore store, Purpose purpose) {
    return ((RedlockStore) store)
        .nodes()
        .all
        .get(0)
        .call(purpose, Script.REDLOCK_INSPECT, RedlockLayout.keys(NAME), run -> new byte[0][])
        .handle((answer, failure) -> failure == null)
        .join();
  }

  @Test
  void undoOfAnEarlierAttempt_leavesTheHoldOfALaterOne() {
    LockStore store = proxied();
    LockStore other = direct();
    HeldGrant before = Clients.get(grant(other, request(Mode.EXCLUSIVE, false)));
    cutOff(2);
    Fault late = proxies.get(0).holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_END)));
    CompletableFuture<HeldGrant> asking = grant(store, request(Mode.EXCLUSIVE, true));
    awaitStruck(late);
    other.release(new ReleaseRequest(before, Duration.ZERO));
    Clients.get(asking); // At the first two nodes, over a new connection to the first.
    assertThat(isGranted(other, Mode.EXCLUSIVE)).isFalse();

    deliver(late, other);

    assertThat(isGranted(other, Mode.EXCLUSIVE)).as("a second holder").isFalse();
  }

  @Test
  void claimOfAnEarlierAttempt_forOtherPermits_leavesThePermitsOfALaterOne() {
    LockStore store = proxied();
    LockStore other = direct();
    Mode one = Mode.permits(1, 2);
    awaitGranted(other, one); // The slot that the other one will ask for first.
    cutOff(2);
    Fault late = proxies.get(0).holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_CLAIM)));
    CompletableFuture<HeldGrant> asking = grant(store, request(one, true));
    awaitStruck(late);
    Clients.get(asking); // The other slot, at the first two nodes.
    assertThat(isGranted(other, one)).isFalse();

    deliver(late, other);

    assertThat(isGranted(other, one)).as("a third holder of two permits").isFalse();
  }

  /** What a node has of the name. */
  private List<NameState.Holder> inspected(LockStore store) {
    return Clients.get(store.inspect(NAME)).holders();
  }

  private static Renewal renew(LockStore store, HeldGrant grant) {
    return Clients.get(store.renew(List.of(new RenewRequest(grant, LEASE))).get(0));
  }

  private static String key() {
    return "fl1:r:" + NAME;
  }

  /** A node that the client has only begun to connect to does not vote, and would not have it. */
  private HeldGrant heldByAll(LockStore store, ClaimRequest request) {
    Eventually.until(Clients.AMPLE, "all to vote", this::allVote);
    HeldGrant grant = Clients.get(grant(store, request));
    Eventually.until(Clients.AMPLE, "all to have it", this::allHaveIt);
    return grant;
  }

  private boolean allVote() {
    return nodes.all().stream().allMatch(node -> node.command("HGET", "fl1:r!", "run") != null);
  }

  private boolean allHaveIt() {
    return nodes.all().stream().allMatch(node -> RedlockServers.hasConfirmed(node, NAME));
  }

  private boolean has(int node) {
    return Long.valueOf(1).equals(nodes.get(node).command("EXISTS", key()));
  }

  @Test
  void restorationThatArrivesAfterTheRelease_bringsNothingBack() {
    LockStore store = proxied();
    LockStore other = direct();
    HeldGrant grant = heldByAll(store, request(Mode.EXCLUSIVE, false));
    RedlockServers.free(nodes.get(0), NAME);
    Fault late = proxies.get(0).holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_RESTORE)));
    assertThat(renew(store, grant)).isInstanceOf(Renewal.Renewed.class);
    awaitStruck(late);
    Eventually.until(
        Clients.AMPLE,
        "its connection to be given up, and another one",
        () -> hasAnswered(store, Purpose.RENEWALS));
    assertThat(Clients.get(store.release(new ReleaseRequest(grant, Duration.ZERO))))
        .isEqualTo(Release.RELEASED);
    assertThat(hasAnswered(store, Purpose.CLAIMS)).isTrue(); // The first node has heard of it.
    nodes.get(2).kill(); // So that the first node is needed.

    deliver(late, other);

    assertThat(inspected(other)).isEmpty();
    awaitGranted(other, Mode.EXCLUSIVE);
  }

  @Test
  void claimOfAnEarlierAttempt_atANodeThatLacksTheHold_isNotTakenForIt() {
    LockStore store = proxied();
    LockStore other = direct();
    Mode one = Mode.permits(1, 2);
    int slot = PermitSlots.any(one, new Predictable()).chosen().get(0);
    ClaimRequest claim = request(one, false);
    HeldGrant grant = heldByAll(store, claim);
    RedlockServers.free(nodes.get(0), NAME);
    RedlockRequest late = RedlockRequest.of(claim, new PermitSlots(List.of(1 - slot)), 0);
    Eventually.until( // It does not vote for a client that has only begun to connect.
        Clients.AMPLE, "a grant", () -> claimAtTheFirst(other, late).startsWith("Granted"));
    cutOff(1);

    // The third node may hear a little later than the others that the claim has won.
    Eventually.until(Clients.AMPLE, "a renewal", () -> renewed(store, grant));
    RedlockServers.free(nodes.get(1), NAME); // As if its lease had ended there.

    assertThat(isGranted(other, one)).as("the other permit").isTrue();
    assertThat(isGranted(other, one)).as("a third holder of two permits").isFalse();
  }

  private static String claimAtTheFirst(LockStore store, RedlockRequest request) {
    List<Object> answer =
        callTheFirst(
            store, Script.REDLOCK_CLAIM, run -> request.firstRound(run, 0, SOMEONE, new byte[0]));
    return RedlockAnswers.Vote.parse(answer).toString();
  }

  private static List<Object> callTheFirst(
      LockStore store, Script script, Function<byte[], byte[][]> args) {
    return ((RedlockStore) store)
        .nodes()
        .all
        .get(0)
        .call(Purpose.CLAIMS, script, RedlockLayout.keys(NAME), args)
        .join();
  }

  /** What is turned away has to be remembered, but only where something may be on its way. */
  @Test
  void refusedClaimsAndReleases_leaveNothingBehind() {
    LockStore store = direct();
    LockStore other = direct();
    HeldGrant grant = Clients.get(grant(store, request(Mode.EXCLUSIVE, false)));
    for (int i = 0; i < 20; i++) {
      assertThat(isGranted(other, Mode.EXCLUSIVE)).isFalse();
    }

    Clients.get(store.release(new ReleaseRequest(grant, Duration.ZERO)));

    Eventually.until(Clients.AMPLE, "nothing to be left", () -> !has(0) && !has(1) && !has(2));
  }

  // A bare majority. ----------------------------------------------------------------------------

  @Test
  void holdOfABareMajority_isGivenToTheThirdNode_whenOneDies() {
    LockStore store = proxied();
    LockStore other = direct();
    HeldGrant grant = heldByAll(store, request(Mode.EXCLUSIVE, true));
    RedlockServers.free(nodes.get(2), NAME);

    nodes.get(1).kill();

    Eventually.until(Clients.AMPLE, "a renewal by the others", () -> renewed(store, grant));
    assertThat(has(2)).isTrue();
    nodes.get(1).restart();
    assertThat(isGranted(other, Mode.EXCLUSIVE)).isFalse();
    assertThat(Clients.get(store.release(new ReleaseRequest(grant, Duration.ZERO))))
        .isEqualTo(Release.RELEASED);
  }

  @Test
  void holdThatWasEndedByForceAtAMajority_isNotGivenBackByARenewal() {
    LockStore store = direct();
    LockStore operator = proxied();
    HeldGrant grant = heldByAll(store, request(Mode.EXCLUSIVE, false));
    cutOff(2);
    assertThat(Clients.get(operator.forceRelease(NAME, grant.number()))).isTrue();
    Eventually.until(Clients.AMPLE, "two to have ended it", () -> inspected(operator).isEmpty());
    nodes.get(1).pause();

    boolean renewed = renewed(store, grant);

    nodes.get(1).resume();
    assertThat(renewed).isFalse();
  }

  @Test
  void holdThatWasEndedByForce_isNotGivenToANodeThatLackedIt() {
    LockStore store = proxied();
    LockStore operator = direct();
    HeldGrant grant = heldByAll(store, request(Mode.EXCLUSIVE, false));
    RedlockServers.free(nodes.get(0), NAME);
    assertThat(Clients.get(operator.forceRelease(NAME, grant.number()))).isTrue();
    Clients.get(operator.list("", 1)); // All that was sent to the first node has arrived.
    nodes.get(1).command("FLUSHALL"); // It forgets that, too.
    cutOff(2);

    assertThat(renewed(store, grant)).isFalse();

    awaitGranted(operator, Mode.EXCLUSIVE);
    Eventually.until(
        Clients.AMPLE,
        "the others to tell the node",
        () -> nodes.get(1).command("HGET", "fl1:r!", "until") != null);
    assertThat(renewed(store, grant)).isFalse();
  }

  /** What a server persists is older than what it knew: the hold is there that was ended since. */
  @Test
  void holdThatWasEndedByForce_isNotRenewedAtANodeThatRemembersItFromBefore() {
    LockStore store = direct();
    LockStore operator = proxied();
    HeldGrant grant = heldByAll(store, request(Mode.EXCLUSIVE, false));
    nodes.get(0).command("SAVE");
    cutOff(2); // It never hears of the force.
    assertThat(Clients.get(operator.forceRelease(NAME, grant.number()))).isTrue();
    Eventually.until(Clients.AMPLE, "two to have ended it", () -> inspected(operator).isEmpty());
    nodes.get(0).kill();
    nodes.get(0).restart();
    assertThat(has(0)).isTrue();
    Eventually.until(Clients.AMPLE, "a new connection", () -> hasAnswered(store, Purpose.RENEWALS));
    nodes.get(1).pause();

    boolean renewed = renewed(store, grant);

    nodes.get(1).resume();
    assertThat(renewed).isFalse();
    Eventually.until(
        Clients.AMPLE,
        "the others to tell the node",
        () -> nodes.get(0).command("HGET", "fl1:r!", "until") != null);
    assertThat(renewed(store, grant)).isFalse();
  }

  @Test
  void force_opensANameThatIsKeptClosed() {
    LockStore store = direct();
    HeldGrant grant = Clients.get(grant(store, request(Mode.EXCLUSIVE, false)));
    Clients.get(store.release(new ReleaseRequest(grant, LEASE)));
    assertThat(isGranted(store, Mode.EXCLUSIVE)).isFalse();

    assertThat(Clients.get(store.forceRelease(NAME, grant.number()))).isTrue();

    awaitGranted(store, Mode.EXCLUSIVE);
    assertThat(Clients.get(store.forceRelease(NAME, grant.number()))).isFalse();
  }

  /** Else the name could not be opened with the token that its holder had. */
  @Test
  void nameThatIsKeptClosed_hasItsHoldersNumber_alsoWhereItWasNotConfirmed() {
    LockStore store = store(addressesOfProxies(), Duration.ofSeconds(30));
    Fault late = proxies.get(2).holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_CLAIM)));
    HeldGrant grant = Clients.get(grant(store, request(Mode.EXCLUSIVE, false)));
    awaitStruck(late);
    Clients.get(store.release(new ReleaseRequest(grant, LEASE))); // At the node behind the claim.
    late.lift();
    Eventually.until(Clients.AMPLE, "the slow node to have it", () -> has(2));
    assertThat(renewed(store, grant)).isFalse(); // All that was sent to the node has arrived.

    assertThat(inspected(store))
        .extracting(NameState.Holder::number)
        .containsExactly(grant.number());
    assertThat(Clients.get(store.forceRelease(NAME, grant.number()))).isTrue();
  }

  @Test
  void nameThatIsKeptClosed_isClosedAlsoWhereTheHoldWasForgotten() {
    LockStore store = direct();
    HeldGrant grant = heldByAll(store, request(Mode.EXCLUSIVE, false));
    RedlockServers.free(nodes.get(2), NAME);
    nodes.get(1).command("FLUSHALL");

    assertThat(Clients.get(store.release(new ReleaseRequest(grant, LEASE))))
        .isEqualTo(Release.RELEASED);

    Eventually.until(Clients.AMPLE, "all to keep it closed", () -> has(0) && has(1) && has(2));
    assertThat(inspected(store)).hasSize(1);
  }

  /**
   * A node closes the name, and loses its memory before a second one has heard of it: those that it
   * asks know of the lease only, which is shorter, and it votes again after that.
   */
  @Test
  void nameThatIsKeptClosedForLongerThanALease_isClosedWhereItWasForgottenDuringTheRelease() {
    LockStore store = store(addressesOfProxies(), Duration.ofSeconds(30));
    HeldGrant grant = heldByAll(store, request(Mode.EXCLUSIVE, false));
    cutOff(2); // It never hears of the release.
    Fault late = proxies.get(0).holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_END)));
    CompletableFuture<Release> releasing =
        store.release(new ReleaseRequest(grant, LEASE.multipliedBy(6)));
    awaitStruck(late);
    Eventually.until(
        Clients.AMPLE,
        "the second node to close it",
        () -> !RedlockServers.hasConfirmed(nodes.get(1), NAME));
    nodes.get(1).command("FLUSHALL");
    direct(); // Takes care of it.
    Eventually.until(
        Clients.AMPLE,
        "a decision about the node",
        () -> nodes.get(1).command("HGET", "fl1:r!", "wait") != null);
    assertThat(nodes.get(1).command("HGET", "fl1:r!", "wait"))
        .isEqualTo(Long.toString(LEASE.toMillis()));

    late.lift();

    assertThat(Clients.get(releasing)).isEqualTo(Release.RELEASED);
    assertThat(has(0)).isTrue();
    assertThat(has(1)).as("the name is closed at a majority").isTrue();
  }

  /** The release is answered when the name is open again, and others have come and gone. */
  @Test
  void releaseThatKeepsTheNameClosed_andIsAnsweredTooLate_doesNotCloseItAgain() {
    LockStore store = store(addressesOfProxies(), Duration.ofSeconds(30));
    LockStore other = direct();
    HeldGrant grant = heldByAll(store, request(Mode.EXCLUSIVE, false));
    List<Fault> late = new ArrayList<>();
    for (FaultProxy proxy : proxies) {
      late.add(proxy.holdReply(Trigger.first(Clients.calls(Script.REDLOCK_END))));
    }
    CompletableFuture<Release> releasing =
        store.release(new ReleaseRequest(grant, Duration.ofSeconds(1)));
    late.forEach(RedlockLateTest::awaitStruck);
    HeldGrant next = Clients.get(grant(other, request(Mode.EXCLUSIVE, true)));
    Clients.get(other.release(new ReleaseRequest(next, Duration.ZERO)));

    late.forEach(Fault::lift);

    assertThat(Clients.get(releasing)).isEqualTo(Release.RELEASED);
    assertThat(isGranted(other, Mode.EXCLUSIVE)).isTrue();
  }

  @Test
  void releaseOfPermitsThatIsRepeated_closesThemAlsoWhereTheHoldWasForgotten() {
    LockStore store = store(addressesOfProxies().replace("10s", "1s"), Duration.ofSeconds(1));
    HeldGrant grant = heldByAll(store, request(Mode.permits(1, 2), false));
    String slot = slots(0);
    RedlockServers.free(nodes.get(2), NAME);
    nodes.get(1).command("FLUSHALL");
    List<Fault> cuts = proxies.stream().map(proxy -> proxy.blackHole(Direction.TO_SERVER)).toList();
    ReleaseRequest request = new ReleaseRequest(grant, LEASE.multipliedBy(6));
    assertThat(store.release(request)).failsWithin(Clients.AMPLE);
    cuts.forEach(Fault::lift);
    Eventually.until(Clients.AMPLE, "a new connection", () -> hasAnswered(store, Purpose.CLAIMS));

    assertThat(Clients.get(store.release(request))).isEqualTo(Release.RELEASED);

    assertThat(slot).isNotEmpty();
    Eventually.until(Clients.AMPLE, "all to keep it closed", () -> has(0) && has(1) && has(2));
    assertThat(List.of(slots(0), slots(1), slots(2))).containsOnly(slot);
  }

  /** Which permits the first grant of a node has. */
  private String slots(int node) {
    return (String)
        nodes
            .get(node)
            .command(
                "EVAL",
                "return table.concat(cmsgpack.unpack(redis.call('GET', KEYS[1]))[3][1][3], ',')",
                "1",
                key());
  }

  /** Such a grant would be in nobody's way, and count as one of a majority. */
  @Test
  void permitsOfWhichItIsNotKnownWhich_areNeitherGivenToANodeNorKeptClosed() {
    LockStore store = direct();
    ClaimRequest claim = request(Mode.permits(1, 2), false);
    HeldGrant grant = heldByAll(store, claim);
    RedlockServers.free(nodes.get(0), NAME);
    RedlockRequest unknown = RedlockRequest.of(claim, PermitSlots.NONE, RedlockRequest.HELD);

    List<Object> given =
        callTheFirst(
            store,
            Script.REDLOCK_RESTORE,
            run -> unknown.restoration(run, grant.number(), LEASE.toMillis(), SOMEONE));
    List<Object> closed =
        callTheFirst(
            store,
            Script.REDLOCK_END,
            run -> unknown.closing(LEASE.toMillis(), grant.number(), SOMEONE));

    assertThat(RedlockAnswers.Restored.parse(given).done()).isFalse();
    assertThat(RedlockAnswers.Ended.parse(closed).done()).isFalse();
    assertThat(has(0)).isFalse();
  }

  // What nodes forget, and do not know. ----------------------------------------------------------

  @Test
  void nameThatANodeHasEvicted_costsItsVote() {
    LockStore store = direct();
    LockStore other = direct();
    heldByAll(store, request(Mode.EXCLUSIVE, false));

    nodes.get(0).command("DEL", key()); // As Redis does that is short of memory.
    nodes.get(1).command("DEL", key());

    assertThat(isGranted(other, Mode.EXCLUSIVE)).as("a second holder").isFalse();
    assertThat(nodes.get(0).command("HGET", "fl1:r!", "run")).isNull();
  }

  @Test
  void renewalThatIsLongerThanTheLease_isMadeTwice() {
    LockStore store = direct();
    HeldGrant grant = heldByAll(store, request(Mode.EXCLUSIVE, false));

    // The first time, what the grant has sent to a slow node may still arrive.
    Eventually.until(
        Clients.AMPLE,
        "a renewal to be one request",
        () -> {
          nodes.get(0).resetCommandCounts();
          assertThat(renew(store, grant)).isInstanceOf(Renewal.Renewed.class);
          return nodes.get(0).commandCount("evalsha") == 1;
        });
    RenewRequest longer = new RenewRequest(grant, LEASE.multipliedBy(2));
    assertThat(Clients.get(store.renew(List.of(longer)).get(0)))
        .isInstanceOf(Renewal.Renewed.class);

    assertThat(nodes.get(0).commandCount("evalsha")).isEqualTo(3);
  }

  /** The node answers that it does not know the script, and that answer is late. */
  @Test
  void claimWhoseScriptTheNodeDidNotKnow_isNotSentAgainAfterItsUndo() {
    LockStore store = proxied();
    LockStore other = direct();
    heldByAll(other, request(Mode.EXCLUSIVE, false));
    RedlockServers.free(nodes.get(0), NAME);
    nodes.get(0).command("SCRIPT", "FLUSH");
    load(nodes.get(0), Script.REDLOCK_END);
    Fault late = proxies.get(0).holdReply(Trigger.first(Clients.calls(Script.REDLOCK_CLAIM)));

    assertThat(isGranted(store, Mode.EXCLUSIVE)).isFalse();
    awaitStruck(late);
    late.lift();

    assertThat(hasAnswered(store, Purpose.CLAIMS)).isTrue(); // The claim's answer came before.
    assertThat(hasAnswered(store, Purpose.CLAIMS)).isTrue(); // What that made us send, too.
    assertThat(has(0)).as("a grant that nobody owns").isFalse();
  }

  /** As above, where the others have granted the claim, and its hold is over already. */
  @Test
  void claimWhoseScriptTheNodeDidNotKnow_isNotSentAgainAfterTheRelease() {
    LockStore store = store(addressesOfProxies(), Duration.ofSeconds(30));
    Eventually.until(Clients.AMPLE, "all to vote", this::allVote);
    nodes.get(0).command("SCRIPT", "FLUSH");
    load(nodes.get(0), Script.REDLOCK_END);
    Fault late = proxies.get(0).holdReply(Trigger.first(Clients.calls(Script.REDLOCK_CLAIM)));
    HeldGrant grant = Clients.get(grant(store, request(Mode.EXCLUSIVE, false)));
    awaitStruck(late);

    assertThat(Clients.get(store.release(new ReleaseRequest(grant, Duration.ZERO))))
        .isEqualTo(Release.RELEASED);
    late.lift();

    assertThat(hasAnswered(store, Purpose.CLAIMS)).isTrue(); // The claim's answer came before.
    assertThat(hasAnswered(store, Purpose.CLAIMS)).isTrue(); // What that made us send, too.
    assertThat(has(0)).as("a grant that nobody owns").isFalse();
  }

  private static void load(RedisServer node, Script script) {
    node.command("SCRIPT", "LOAD", new String(script.body(), StandardCharsets.US_ASCII));
  }

  @Test
  void claimThatArrivesAfterTheReleaseOfWhatOthersGranted_isTurnedAway() {
    LockStore store = proxied();
    LockStore other = direct();
    Fault late = proxies.get(0).holdRequest(Trigger.first(Clients.calls(Script.REDLOCK_CLAIM)));
    HeldGrant grant = Clients.get(grant(store, request(Mode.EXCLUSIVE, false)));
    awaitStruck(late);
    Eventually.until(
        Clients.AMPLE,
        "its connection to be given up, and another one",
        () -> hasAnswered(store, Purpose.CLAIMS));
    assertThat(Clients.get(store.release(new ReleaseRequest(grant, Duration.ZERO))))
        .isEqualTo(Release.RELEASED);
    assertThat(hasAnswered(store, Purpose.CLAIMS)).isTrue();
    nodes.get(2).kill(); // So that the first node is needed.

    deliver(late, other);

    awaitGranted(other, Mode.EXCLUSIVE);
  }

  private static boolean renewed(LockStore store, HeldGrant grant) {
    try {
      return renew(store, grant) instanceof Renewal.Renewed;
    } catch (AssertionError e) {
      return false; // Not answered by enough of them yet.
    }
  }
}
