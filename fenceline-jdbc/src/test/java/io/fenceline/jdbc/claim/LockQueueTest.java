package io.fenceline.jdbc.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.StoreRefusedException;
import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.layout.Micros;
import io.fenceline.jdbc.layout.Units;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.Release;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is decided about a name, from what was read of it; no database takes part. */
class LockQueueTest {
  private static final long NOW = 1_800_000_000_000_000L;
  private static final long LAST = Micros.clockNumber(NOW) - 1_000;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration DELAY = Duration.ofSeconds(2);
  private static final long PATIENCE = 10_000_000;
  private static final String CLIENT = "7@host client";

  private final RandomGenerator random = new Random(25);

  private ClaimRequest request(Mode mode, boolean waits) {
    return new ClaimRequest("ledger", Owner.draw(random), mode, LEASE, DELAY, waits);
  }

  private static LockQueue record(@Nullable ClaimRow slot, ClaimRow... claims) {
    return record(LAST, slot, claims);
  }

  private static LockQueue record(long last, @Nullable ClaimRow slot, ClaimRow... claims) {
    return new LockQueue(
        "ledger",
        NOW,
        last,
        NOW - 5,
        claims.length,
        slot,
        List.of(claims),
        false,
        () -> new byte[16]);
  }

  private ClaimRow holder(Mode mode, long endsIn) {
    ClaimRow row = row(mode, endsIn);
    row.held = true;
    row.number = LAST;
    return row;
  }

  private ClaimRow waiter(Mode mode, long endsIn) {
    ClaimRow row = row(mode, endsIn);
    row.term = PATIENCE;
    return row;
  }

  private ClaimRow row(Mode mode, long endsIn) {
    ClaimRow row =
        new ClaimRow(
            Owner.draw(random).bytes(), Units.of(mode), DELAY.toNanos() / 1_000, "8@host other");
    row.term = LEASE.plus(DELAY).toNanos() / 1_000;
    row.ends = NOW + endsIn;
    row.readEnds = row.ends;
    return row;
  }

  private ClaimAnswer claim(LockQueue name, ClaimRequest request) {
    return name.claim(request, CLIENT, PATIENCE, 0);
  }

  @Test
  void freeName_isGranted_withTheNumberOfTheClock() {
    LockQueue name = record(null);
    ClaimAnswer answer = claim(name, request(Mode.EXCLUSIVE, true));

    assertThat(answer).isEqualTo(new ClaimAnswer.Granted(Micros.clockNumber(NOW), LEASE));
    assertThat(name.slot()).isNotNull();
    assertThat(name.slot().ends).isEqualTo(NOW + LEASE.plus(DELAY).toNanos() / 1_000);
    assertThat(name.mustLast()).isTrue();
  }

  @Test
  void number_isAboveTheLast_andAboveWhatTheClientHasSeen_thoughTheClockIsBehind() {
    long ahead = Micros.clockNumber(NOW) + 1_000;
    assertThat(claim(record(ahead, null), request(Mode.EXCLUSIVE, true)))
        .isEqualTo(new ClaimAnswer.Granted(ahead + 1, LEASE));
    assertThat(record(null).claim(request(Mode.EXCLUSIVE, true), CLIENT, PATIENCE, ahead))
        .isEqualTo(new ClaimAnswer.Granted(ahead + 1, LEASE));
  }

  @Test
  void numberThatFitsNoToken_isRefused() {
    LockQueue name = record(GrantNumbers.MAX, null);
    assertThatThrownBy(() -> claim(name, request(Mode.EXCLUSIVE, true)))
        .isInstanceOf(StoreRefusedException.class);
  }

  @Test
  void heldName_isRefusedToATry_andQueuesAClaimThatWaits() {
    LockQueue tried = record(holder(Mode.EXCLUSIVE, 1_000_000));
    assertThat(claim(tried, request(Mode.EXCLUSIVE, false)))
        .isInstanceOf(ClaimAnswer.Refused.class);
    assertThat(tried.inserted()).isEmpty();

    LockQueue waited = record(holder(Mode.EXCLUSIVE, 1_000_000));
    assertThat(claim(waited, request(Mode.EXCLUSIVE, true)))
        .isInstanceOf(ClaimAnswer.Waiting.class);
    assertThat(waited.inserted()).hasSize(1);
    assertThat(waited.inserted().get(0).place).isEqualTo(NOW);
    assertThat(waited.mustLast()).as("nobody was told that it holds").isFalse();
  }

  @Test
  void holderWhoseTimeIsOver_isGone_toTheMicrosecond() {
    assertThat(claim(record(holder(Mode.EXCLUSIVE, 0)), request(Mode.EXCLUSIVE, false)))
        .isInstanceOf(ClaimAnswer.Granted.class);
    assertThat(claim(record(holder(Mode.EXCLUSIVE, 1)), request(Mode.EXCLUSIVE, false)))
        .isInstanceOf(ClaimAnswer.Refused.class);
  }

  @Test
  void endThatTheClockCantHaveGiven_isPulledIn_toOneTerm() {
    ClaimRow holder = holder(Mode.EXCLUSIVE, Duration.ofHours(1).toNanos() / 1_000);
    LockQueue name = record(holder);
    assertThat(name.slot()).isSameAs(holder);
    assertThat(holder.ends).isEqualTo(NOW + holder.term);
    assertThat(name.isNameChanged()).isTrue();
  }

  @Test
  void newClaim_doesNotOvertakeWhoWaits_thoughItWouldFit() {
    ClaimRow reader = holder(Mode.SHARED, 1_000_000);
    ClaimRow writer = waiter(Mode.EXCLUSIVE, 1_000_000);
    assertThat(claim(record(reader, writer), request(Mode.SHARED, true)))
        .isInstanceOf(ClaimAnswer.Waiting.class);
    assertThat(claim(record(reader), request(Mode.SHARED, true)))
        .isInstanceOf(ClaimAnswer.Granted.class);
  }

  @Test
  void waiterThatIsDead_standsInNobodysWay() {
    ClaimRow dead = waiter(Mode.EXCLUSIVE, 0);
    LockQueue name = record(null, dead);
    assertThat(claim(name, request(Mode.EXCLUSIVE, false))).isInstanceOf(ClaimAnswer.Granted.class);
    assertThat(name.deleted()).containsExactly(dead);
    assertThat(dead.onlyIfUnchanged).as("a sign of life may have come since").isTrue();
  }

  @Test
  void headOfTheQueue_isNextInTurn_onceItFits() {
    ClaimRow head = waiter(Mode.EXCLUSIVE, 1_000_000);
    assertThat(record(holder(Mode.EXCLUSIVE, 1_000_000), head).nextInTurn()).isNull();
    assertThat(record(null, head, waiter(Mode.SHARED, 1_000_000)).nextInTurn()).isSameAs(head);
  }

  /** It knows when the lease of the holder ends, which may be much later than the name opens. */
  @Test
  void headOfTheQueue_isTold_thatTheNameIsKeptClosed() {
    ClaimRow holder = holder(Mode.EXCLUSIVE, 1_000_000);
    ClaimRow head = waiter(Mode.EXCLUSIVE, 1_000_000);
    LockQueue name = record(holder, head);
    name.release(holder.owner, Duration.ofMillis(1));
    assertThat(name.nextInTurn()).isSameAs(head);
  }

  @Test
  void permits_areGrantedUpToTheirNumber_allOrNone() {
    ClaimRow two = holder(Mode.permits(2, 3), 1_000_000);
    assertThat(claim(record(two), request(Mode.permits(1, 3), false)))
        .isInstanceOf(ClaimAnswer.Granted.class);
    assertThat(claim(record(two), request(Mode.permits(2, 3), false)))
        .isInstanceOf(ClaimAnswer.Refused.class);
  }

  @Test
  void otherKindOfLock_isRefusedWhileTheNameIsInUse() {
    LockQueue name = record(holder(Mode.permits(1, 3), 1_000_000));
    assertThatThrownBy(() -> claim(name, request(Mode.EXCLUSIVE, true)))
        .isInstanceOf(StoreRefusedException.class);
  }

  @Test
  void repeatByItsHolder_getsTheSameNumber_andNeverASoonerEnd() {
    ClaimRequest request = request(Mode.EXCLUSIVE, true);
    LockQueue name = record(null);
    ClaimAnswer first = claim(name, request);
    long ends = name.slot().ends;
    assertThat(claim(name, request)).isEqualTo(first);
    assertThat(name.slot().ends).isEqualTo(ends);
  }

  @Test
  void release_opensTheName_orKeepsItClosedForNobody() {
    ClaimRow held = holder(Mode.EXCLUSIVE, 1_000_000);
    LockQueue opened = record(held);
    assertThat(opened.release(held.owner, Duration.ZERO)).isEqualTo(Release.RELEASED);
    assertThat(opened.slot()).isNull();
    assertThat(opened.release(held.owner, Duration.ZERO)).isEqualTo(Release.GONE);

    ClaimRow kept = holder(Mode.EXCLUSIVE, 1_000_000);
    LockQueue closed = record(kept);
    assertThat(closed.release(kept.owner, Duration.ofSeconds(3))).isEqualTo(Release.RELEASED);
    assertThat(closed.slot().isOf(kept.owner)).isFalse();
    assertThat(closed.slot().ends).isEqualTo(NOW + 3_000_000);
    assertThat(closed.mustLast()).isTrue();
  }

  @Test
  void forcedRelease_comparesTheNumber_andKeepsTheLockDelay() {
    ClaimRow held = holder(Mode.EXCLUSIVE, 20_000_000);
    LockQueue name = record(held);
    assertThat(name.forceRelease(LAST - 1)).isFalse();
    assertThat(name.slot()).isSameAs(held);
    assertThat(name.forceRelease(LAST)).isTrue();
    assertThat(name.slot().ends).isEqualTo(NOW + DELAY.toNanos() / 1_000);
  }
}
