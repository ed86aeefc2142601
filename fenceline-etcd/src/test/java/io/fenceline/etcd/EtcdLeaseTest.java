package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What ends a hold, or keeps its name closed: fixed leases, sessions, delays, force, the sweep. */
@SuppressWarnings("MustBeClosedChecker") // holds and clients outlive the block that makes them
class EtcdLeaseTest extends OneEtcdServer {
  @Test
  void aLeaseBelowTheServersMinimumIsRefused_withTheFigure() {
    assertThat(a.guarantees().leases().shortest()).isEqualTo(Duration.ofSeconds(1));
    LockOptions tooShort = LockOptions.defaults().lease(Duration.ofMillis(900));
    assertThatThrownBy(() -> a.lock("short", tooShort))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("from 1s");
  }

  @Test
  void aFixedLeaseEndsByItself_andCanBeExtended() throws Exception {
    FencedLock fixed = a.lock("fixed", LockOptions.defaults().fixedLease(Duration.ofSeconds(2)));
    Hold hold = fixed.acquire(BOUND);
    hold.extend(Duration.ofSeconds(4));
    assertThat(hold.remaining()).isGreaterThan(Duration.ofMillis(2_100));
    CompletableFuture<Hold> next = b.lock("fixed").acquireAsync(BOUND);
    Hold taken = next.get(20, TimeUnit.SECONDS);
    assertThat(hold.isValid()).isFalse();
    assertThat(taken.token()).isGreaterThan(hold.token());
    taken.release();
  }

  @Test
  void fixedLeasesThatRanOut_areForgotten_withALockDelayToo() throws Exception {
    AtomicReference<EtcdStore> store = new AtomicReference<>();
    StoreAddress address = StoreAddress.parse("etcd://" + etcd.address());
    try (Fenceline client =
        Fenceline.builder()
            .store(
                (StoreFactory)
                    context -> {
                      EtcdStore made = (EtcdStore) new EtcdProvider().at(address).open(context);
                      store.set(made);
                      return made;
                    })
            .connect()) {
      LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofSeconds(1));
      for (int i = 0; i < 5; i++) {
        client.lock("plain-" + i, fixed).acquire(BOUND);
        client.lock("late-" + i, fixed.lockDelay(Duration.ofSeconds(1))).acquire(BOUND);
      }
      assertThat(store.get().remembered()).isPositive();
      Eventually.until(BOUND, "all to be forgotten", () -> store.get().remembered() == 0);
      Hold next = b.lock("late-0").acquire(BOUND);
      next.release();
    }
  }

  @Test
  void aFixedClaimKeepsItsPlaceForLongerThanItsLease() throws Exception {
    Hold hold = a.lock("place").acquire(BOUND);
    FencedLock fixed = b.lock("place", LockOptions.defaults().fixedLease(Duration.ofSeconds(2)));
    CompletableFuture<Hold> waiting = fixed.acquireAsync(BOUND);
    awaitWaiters("place", 1);
    String key = etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/place!");
    long started = etcd.rpcCount("LeaseKeepAlive");
    Eventually.until(BOUND, "keep-alives", () -> etcd.rpcCount("LeaseKeepAlive") > started + 6);
    assertThat(etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/place!"))
        .isEqualTo(key);
    hold.release();
    Hold granted = waiting.get(20, TimeUnit.SECONDS);
    assertThat(granted.remaining()).isGreaterThan(Duration.ofMillis(400));
    granted.release();
  }

  @Test
  void allHoldsOfASessionEndTogether_howeverLateTheyWereAcquired() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(30));
    try (Hold early = a.lock("early", options).acquire(BOUND)) {
      long start = System.nanoTime();
      Eventually.until(BOUND, "a while to pass", () -> System.nanoTime() - start > 500_000_000);
      try (Hold late = a.lock("late", options).acquire(BOUND)) {
        Duration ofEarly = early.remaining();
        assertThat(late.remaining()).isLessThanOrEqualTo(ofEarly);
      }
    }
  }

  @Test
  void aFixedClaimThatIsGivenUpAtOnce_leavesNoLeaseBehind() {
    long before = etcd.etcdctl("lease", "list").lines().count();
    long granted = etcd.rpcCount("LeaseGrant");
    LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofSeconds(1));
    for (int i = 0; i < 5; i++) {
      a.lock("given-up-" + i, fixed).acquireAsync(BOUND).cancel(false);
    }
    Eventually.until(BOUND, "leases", () -> etcd.rpcCount("LeaseGrant") == granted + 5);
    Eventually.until(
        BOUND,
        "the leases to end", // Not the same ones: that of a session may have been replaced.
        () -> etcd.etcdctl("lease", "list").lines().count() <= before);
  }

  @Test
  void aClaimThatBeginsOnASessionThatHasEnded_isAnswered() throws Exception {
    CompletableFuture<String> answer = new CompletableFuture<>();
    direct(
        etcdClient -> {
          ClaimRequest request = request("ended", false);
          Session session = sessions(etcdClient).open(request).join();
          session.end();
          String id = Long.toHexString(session.server.id);
          Eventually.until(
              BOUND, "the lease to end", () -> !etcd.etcdctl("lease", "list").contains(id));
          claim(etcdClient, request, answer::complete).begin(session);
          assertThat(answer.get(20, TimeUnit.SECONDS)).isEqualTo("failed");
        });
  }

  @Test
  void aSessionThatIsFoundUnused_doesNotEndWithTheClaimThatTakesItMeanwhile() throws Exception {
    List<String> heard = new CopyOnWriteArrayList<>();
    direct(
        etcdClient -> {
          ClaimRequest request = request("taken", true); // Unused from its start.
          AtomicReference<Claim> claim = new AtomicReference<>();
          Sessions sessions = sessions(etcdClient, lost -> claim.get().lost("its session"));
          Session session = sessions.open(request).join();
          claim.set(claim(etcdClient, request, heard::add));
          Thread ticking = new Thread(session::tick);
          synchronized (session) {
            ticking.start();
            Eventually.until(
                BOUND, "it to decide", () -> ticking.getState() == Thread.State.BLOCKED);
            claim.get().begin(session);
            Eventually.until(BOUND, "the grant", claim.get()::isHeld);
          }
          ticking.join();
          Eventually.until(BOUND, "the grant to be told", () -> heard.contains("granted"));
          assertThat(heard).containsExactly("granted");
          assertThat(session.isOpen()).isTrue();
          claim.get().withdraw().join();
        });
  }

  @Test
  void aSessionThatWasGivenUp_isNotRenewed_andGrantsNothing() throws Exception {
    List<String> before = new CopyOnWriteArrayList<>();
    List<String> after = new CopyOnWriteArrayList<>();
    direct(
        etcdClient -> {
          ClaimRequest request = request("given-up", false);
          Session session = sessions(etcdClient).open(request).join();
          Claim held = claim(etcdClient, request, before::add);
          held.begin(session);
          Eventually.until(BOUND, "a hold", () -> before.contains("granted"));

          session.giveUp(); // It is fresh, and the server would keep it alive.

          assertThatThrownBy(session.renew(request.lease())::join)
              .hasCauseInstanceOf(StoreUnavailableException.class);
          assertThatThrownBy(session.keepAlive()::join)
              .hasCauseInstanceOf(StoreUnavailableException.class);
          claim(etcdClient, request("given-up-turn", false), after::add).begin(session);
          Eventually.until(BOUND, "an answer", () -> !after.isEmpty());
          assertThat(after).containsExactly("failed");
          held.withdraw().join();
          session.end();
        });
  }

  private interface Use {
    void of(EtcdClient client) throws Exception;
  }

  /** Lends a client with the time that a store of its own is given. */
  private static void direct(Use use) throws Exception {
    StoreAddress address = StoreAddress.parse("etcd://" + etcd.address());
    AtomicReference<EtcdClient> made = new AtomicReference<>();
    try (Fenceline client =
        Fenceline.builder()
            .store(
                (StoreFactory)
                    context -> {
                      made.set(
                          new EtcdClient(
                              context,
                              "test",
                              () -> EtcdAddress.of(address).connect(context),
                              true));
                      return StoreOpener.open(made.get(), "/elsewhere");
                    })
            .connect()) {
      assertThat(client.store()).isEqualTo("test");
      use.of(made.get());
    }
  }

  private static Sessions sessions(EtcdClient client) {
    return sessions(client, lost -> {});
  }

  private static Sessions sessions(EtcdClient client, Consumer<ClaimKey> whenLost) {
    return new Sessions(client, new Layout("/fenceline"), whenLost);
  }

  private static ClaimRequest request(String name, boolean fixed) {
    Owner owner = Owner.draw(new SecureRandom());
    Duration lease = Duration.ofSeconds(30);
    return new ClaimRequest(name, owner, Mode.EXCLUSIVE, lease, Duration.ZERO, true, fixed);
  }

  private static Claim claim(EtcdClient client, ClaimRequest request, Consumer<String> hears) {
    ClaimHandler handler =
        new ClaimHandler() {
          @Override
          public void granted(Grant grant) {
            hears.accept("granted");
          }

          @Override
          public void waiting(Obstacle obstacle) {
            hears.accept("waiting");
          }

          @Override
          public void refused(Obstacle obstacle) {
            hears.accept("refused");
          }

          @Override
          public void failed(RuntimeException cause) {
            hears.accept("failed");
          }

          @Override
          public void gone() {
            hears.accept("gone");
          }
        };
    ByteSequence name = new Layout("/fenceline").name(request.name());
    return new Claim(client, name, request, handler, over -> {});
  }

  @Test
  void keepAtLeastLeavesTheNameClosedAfterARelease() throws Exception {
    LockOptions job = OPTIONS.keepAtLeast(Duration.ofSeconds(3));
    Hold hold = a.lock("job", job).acquire(BOUND);
    long acquired = System.nanoTime();
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
    assertThat(b.lock("job").tryAcquire()).isEmpty();
    try (Hold next = b.lock("job").acquire(BOUND)) {
      assertThat(System.nanoTime() - acquired).isGreaterThan(2_800_000_000L);
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  @Test
  void aForcedReleaseFreesTheName_andTheHolderHearsOfIt() throws Exception {
    Hold hold = a.lock("forced").acquire(BOUND);
    assertThat(b.forceRelease("forced", hold.token() + (1L << 8))).isFalse();
    assertThat(b.forceRelease("forced", hold.token())).isTrue();
    try (Hold next = b.lock("forced").acquire(BOUND)) {
      assertThat(next.token()).isGreaterThan(hold.token());
      Eventually.until(BOUND, "the loss to be noticed", () -> !hold.isValid());
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
      assertThat(next.isValid()).isTrue();
    }
  }

  @Test
  void aReleaseAfterAForcedOne_leavesTheNameClosedForTheDelay() throws Exception {
    LockOptions delayed = OPTIONS.lockDelay(Duration.ofSeconds(3));
    Hold hold = a.lock("closing", delayed).acquire(BOUND);
    assertThat(b.forceRelease("closing", hold.token())).isTrue();
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
    assertThat(b.lock("closing").tryAcquire()).isEmpty();
    b.lock("closing").acquire(BOUND).release();
  }

  @Test
  void aKeyThatNobodyStandsFor_isSweptFromTheSession() throws Exception {
    // A third of it passes before the first sweep: time enough to see what is there before.
    LockOptions slow = LockOptions.defaults().lease(Duration.ofSeconds(9));
    try (Hold hold = a.lock("swept-by", slow).acquire(BOUND)) {
      String key = etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/swept-by!");
      String lease = key.strip().replaceAll(".*!([0-9a-f]+)-0", "$1");
      // As if a claim that was given up had arrived late.
      ClaimRequest late =
          new ClaimRequest(
              "swept",
              Owner.draw(new SecureRandom()),
              Mode.EXCLUSIVE,
              OPTIONS.lease(),
              Duration.ZERO,
              true);
      String value =
          Entry.Value.of(late, 0, new ClientInfo("late", "host", 1))
              .bytes()
              .toString(StandardCharsets.UTF_8);
      etcd.etcdctl("put", "--lease=" + lease, "/fenceline/lock/swept!" + lease + "-0", value);
      assertThat(b.lock("swept").tryAcquire()).isEmpty();
      try (Hold next = b.lock("swept").acquire(BOUND)) {
        assertThat(next.isValid()).isTrue();
      }
      assertThat(hold.isValid()).isTrue();
    }
  }

  @Test
  void aHoldThatIsNoLongerRenewed_opensAfterItsDelay_thoughItsSessionLives() throws Exception {
    LockOptions leaky =
        LockOptions.defaults()
            .lease(Duration.ofSeconds(2))
            .lockDelay(Duration.ofSeconds(1))
            .maxHold(Duration.ofSeconds(1));
    Hold leaked = a.lock("leaked", leaky).acquire(BOUND);
    try (Hold next = b.lock("leaked").acquire(BOUND)) {
      assertThat(leaked.isValid()).isFalse();
      assertThat(next.token()).isGreaterThan(leaked.token());
    }
  }

  @Test
  void aForcedReleaseThatComesAfterTheRelease_leavesTheNameClosed() throws Exception {
    Hold hold = a.lock("passed", OPTIONS.keepAtLeast(Duration.ofSeconds(4))).acquire(BOUND);
    assertThat(forcedAfter("passed", hold, hold::release)).isFalse();
    b.lock("passed").acquire(BOUND).release();
  }

  @Test
  void aForcedReleaseThatComesAfterAnExtension_freesTheName() throws Exception {
    LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofSeconds(20));
    Hold hold = a.lock("passed-on", fixed).acquire(BOUND);
    Duration longer = Duration.ofSeconds(40);
    assertThat(forcedAfter("passed-on", hold, () -> hold.extendAsync(longer).join())).isTrue();
    assertThat(etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/")).isEmpty();
  }

  /** A forced release that has seen the hold, and is done after something else. */
  private static boolean forcedAfter(String name, Hold hold, Callable<?> between) throws Exception {
    HeldRequest late = new HeldRequest();
    try (Client client = Client.builder().endpoints(etcd.endpoint()).interceptor(late).build();
        Fenceline operator =
            Fenceline.builder().store(EtcdStores.from(client)).operationTimeout(BOUND).connect()) {
      late.catchNext(request -> request.startsWith("Txn") && request.contains("lock/" + name));
      CompletableFuture<Boolean> forced =
          CompletableFuture.supplyAsync(() -> operator.forceRelease(name, hold.token()));
      Eventually.until(BOUND, "the forced release", late::isCaught);
      between.call();
      late.deliver();
      return forced.get(20, TimeUnit.SECONDS);
    }
  }
}
