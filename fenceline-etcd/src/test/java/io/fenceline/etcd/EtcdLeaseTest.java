package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencedLock;
import io.fenceline.Hold;
import io.fenceline.InvalidSettingException;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.testkit.server.Eventually;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What ends a hold, or keeps its name closed: fixed leases, sessions, delays, force, the sweep. */
@SuppressWarnings("MustBeClosedChecker") // holds and clients outlive the block that makes them
class EtcdLeaseTest extends OneEtcdServer {
  @Test
  void aLeaseBelowTheServersMinimumIsRefused_withTheFigure() {
    assertThat(a.guarantees().shortestLease()).isEqualTo(Duration.ofSeconds(1));
    LockOptions tooShort = LockOptions.defaults().lease(Duration.ofMillis(900));
    assertThatThrownBy(() -> a.lock("short", tooShort))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("from 1s");
  }

  @Test
  void aFixedLeaseEndsByItself_andCanBeExtended() throws Exception {
    FencedLock fixed = a.lock("fixed", LockOptions.defaults().fixedLease(Duration.ofSeconds(1)));
    Hold hold = fixed.acquire(BOUND);
    hold.extend(Duration.ofSeconds(2));
    assertThat(hold.remaining()).isGreaterThan(Duration.ofMillis(1_100));
    CompletableFuture<Hold> next = b.lock("fixed").acquireAsync(BOUND);
    awaitWaiters("fixed", 1);
    Hold taken = next.get(20, TimeUnit.SECONDS);
    assertThat(hold.isValid()).isFalse();
    assertThat(taken.token()).isGreaterThan(hold.token());
    taken.release();
  }

  @Test
  void aFixedClaimKeepsItsPlaceForLongerThanItsLease() throws Exception {
    Hold hold = a.lock("place").acquire(BOUND);
    FencedLock fixed = b.lock("place", LockOptions.defaults().fixedLease(Duration.ofSeconds(1)));
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
    String before = etcd.etcdctl("lease", "list");
    long granted = etcd.rpcCount("LeaseGrant");
    LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofSeconds(1));
    for (int i = 0; i < 5; i++) {
      a.lock("given-up-" + i, fixed).acquireAsync(BOUND).cancel(false);
    }
    Eventually.until(BOUND, "leases", () -> etcd.rpcCount("LeaseGrant") == granted + 5);
    Eventually.until(
        BOUND, "the leases to end", () -> etcd.etcdctl("lease", "list").equals(before));
  }

  @Test
  void keepAtLeastLeavesTheNameClosedAfterARelease() throws Exception {
    LockOptions job = OPTIONS.keepAtLeast(Duration.ofMillis(1_500));
    Hold hold = a.lock("job", job).acquire(BOUND);
    long acquired = System.nanoTime();
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
    assertThat(b.lock("job").tryAcquire()).isEmpty();
    try (Hold next = b.lock("job").acquire(BOUND)) {
      assertThat(System.nanoTime() - acquired).isGreaterThan(1_300_000_000L);
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
    try (Hold hold = a.lock("swept-by").acquire(BOUND)) {
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
      try (Hold next = b.lock("swept").acquire(OPTIONS.lease().multipliedBy(2))) {
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
}
