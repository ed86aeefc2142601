package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.Contended;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The server has acted, and the client does not learn of it. */
class LostRepliesTest {
  private static final Duration LEASE = Duration.ofSeconds(3);

  private final Fleet fleet = new Fleet();
  private FaultProxy proxy;
  private Fenceline client;
  private Fenceline other;

  @BeforeEach
  void connect() {
    proxy = FaultProxy.to(Servers.single().host(), Servers.single().port(), Protocol.ZOOKEEPER);
    client = fleet.client("unlucky", Servers.store(proxy.address()), LEASE);
    other = fleet.client("other", Servers.store(Servers.single().address()), LEASE);
    proxy.resetCounts();
  }

  @AfterEach
  void close() {
    proxy.heal();
    fleet.close();
    proxy.close();
  }

  private void warm(String name) {
    Fleet.take(other, name).release();
  }

  @Test
  void createWhoseReplyWasCutOff_isFoundAgain_andAdopted() throws InterruptedException {
    warm("cut");
    Fault cut = proxy.cutBeforeReply(Trigger.first(request -> request.is("create2")));

    try (Hold hold = client.lock("cut").acquire(Fleet.AMPLE)) {
      assertThat(cut.timesApplied()).isEqualTo(1);
      assertThat(hold.isValid()).isTrue();
      LockReport report = other.inspect("cut");
      assertThat(report.holders())
          .singleElement()
          .extracting(LockReport.Holder::token)
          .isEqualTo(hold.token());
      assertThat(report.waiters()).isEmpty();
      assertThat(proxy.count("create2")).isEqualTo(1); // Not created a second time.
    }
  }

  @Test
  void waiterWhoseReplyWasCutOff_keepsItsPlace() {
    Hold held = Fleet.take(other, "place");
    Fault cut = proxy.cutBeforeReply(Trigger.first(request -> request.is("create2")));
    CompletableFuture<Hold> first = client.lock("place").acquireAsync(Fleet.AMPLE);
    Eventually.until(Fleet.AMPLE, "the cut", () -> cut.timesApplied() == 1);
    Fenceline third = fleet.client("third", Servers.store(Servers.single().address()), LEASE);
    CompletableFuture<Hold> second = third.lock("place").acquireAsync(Fleet.AMPLE);
    Eventually.until(
        Fleet.AMPLE, "both to wait", () -> other.inspect("place").waiters().size() == 2);

    held.release();

    Hold won = Fleet.get(first);
    assertThat(second).isNotDone();
    won.release();
    assertThat(Fleet.get(second).token()).isGreaterThan(won.token());
  }

  @Test
  void tryWhoseReplyWasCutOff_fails_andLeavesNothing() {
    warm("tried");
    Fault cut = proxy.cutBeforeReply(Trigger.first(request -> request.is("create2")));

    assertThatThrownBy(() -> client.lock("tried").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("connection was lost");

    assertThat(cut.timesApplied()).isEqualTo(1);
    Eventually.until(Fleet.AMPLE, "the name to be free", () -> other.inspect("tried").isFree());
    assertThat(Fleet.take(other, "tried").isValid()).isTrue();
  }

  @Test
  void requestThatNeverArrived_isSentAgain() throws InterruptedException {
    warm("never");
    Fault cut = proxy.cutRequest(Trigger.first(request -> request.is("create2")));

    try (Hold hold = client.lock("never").acquire(Fleet.AMPLE)) {
      assertThat(cut.timesApplied()).isEqualTo(1);
      // More than once on a machine that is slow to connect again; it is one hold all the same.
      assertThat(proxy.count("create2")).isGreaterThanOrEqualTo(2);
      assertThat(hold.isValid()).isTrue();
      assertThat(other.inspect("never").holders()).hasSize(1);
      assertThat(other.inspect("never").waiters()).isEmpty();
    }
  }

  @Test
  void releaseWhoseReplyWasCutOff_isUnknown_andTouchesNobodyElse() {
    Hold hold = Fleet.take(client, "released");
    Fault cut = proxy.cutBeforeReply(Trigger.first(request -> request.is("delete")));

    assertThat(hold.release()).isEqualTo(ReleaseOutcome.UNKNOWN);

    assertThat(cut.timesApplied()).isEqualTo(1);
    Hold next = Fleet.take(other, "released");
    assertThat(next.token()).isGreaterThan(hold.token());
    Eventually.until(Fleet.AMPLE, "the repeat", () -> proxy.count("delete") >= 2);
    assertThat(other.inspect("released").holders()).hasSize(1);
    assertThat(next.isValid()).isTrue();
  }

  @Test
  void eventThatWasLost_isMadeUpForByThePoll() {
    Hold held = Fleet.take(other, "event");
    CompletableFuture<Hold> waiting = client.lock("event").acquireAsync(Fleet.AMPLE);
    Eventually.until(Fleet.AMPLE, "the watch", () -> !fleet.heard(Contended.class).isEmpty());
    Fault lost = proxy.dropPush(push -> true);

    held.release();

    assertThat(Fleet.get(waiting).isValid()).isTrue();
    assertThat(lost.timesApplied()).isPositive();
  }
}
