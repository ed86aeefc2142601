package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Hold;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.settings.HandOff;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Who holds what, who waits, and taking a lock away. */
abstract class InspectionBehaviour extends Scenario {

  InspectionBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void inspection_showsTheHolder() {
    Hold hold = a.take(ledger);

    LockReport report = b.inspect(ledger);

    assertThat(report.name()).isEqualTo(ledger);
    assertThat(report.isFree()).isFalse();
    LockReport.Holder holder = report.holders().get(0);
    assertThat(holder.id()).isEqualTo(hold.id());
    assertThat(holder.label()).isEqualTo("a");
    assertThat(holder.pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(holder.host()).isNotBlank();
    assertThat(holder.mode()).isEqualTo("exclusive");
    assertThat(holder.token()).isEqualTo(hold.token());
    assertThat(holder.remaining()).isPositive();
    assertThat(Duration.between(holder.since(), hold.acquiredAt()).abs())
        .isLessThan(Duration.ofMinutes(1));
  }

  @Test
  void inspection_showsThatANameIsFree() {
    LockReport report = a.inspect(ledger);

    assertThat(report.name()).isEqualTo(ledger);
    assertThat(report.isFree()).isTrue();
    assertThat(report.waiters()).isEmpty();
  }

  @Test
  void inspection_showsHowMuchOfTheLeaseIsLeft() {
    a.take(ledger, fixed());
    Duration first = b.inspect(ledger).holders().get(0).remaining();

    elapse(lease.dividedBy(2));

    Duration later = b.inspect(ledger).holders().get(0).remaining();
    assertThat(first).isPositive();
    if (gives(Guarantee.LEASE_PER_HOLD)) {
      assertThat(first).isBetween(lease.dividedBy(2), lease);
      assertThat(later).isLessThanOrEqualTo(first.minus(lease.dividedBy(4)));
    }
  }

  @Test
  void inspection_showsWaitersInTheirOrder() {
    if (!givesOrRefuses(Guarantee.FAIR)) {
      return;
    }
    a.take(ledger);
    CompletableFuture<Hold> one = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    CompletableFuture<Hold> two = c.lock(ledger).acquireAsync(ample);
    awaitContended(c, ledger, 1);

    List<LockReport.Waiter> waiters = a.inspect(ledger).waiters();

    assertThat(waiters).extracting(LockReport.Waiter::label).containsExactly("b", "c");
    assertThat(waiters).extracting(LockReport.Waiter::mode).containsOnly("exclusive");
    assertThat(waiters).extracting(LockReport.Waiter::id).doesNotHaveDuplicates();
    assertThat(one).isNotDone();
    assertThat(two).isNotDone();
  }

  @Test
  void inspection_takesNothingAndDisturbsNobody() {
    Hold hold = a.take(ledger);
    for (int i = 0; i < 5; i++) {
      b.inspect(ledger);
      b.inspect(name("other"));
    }

    assertThat(hold.isValid()).isTrue();
    assertThat(hold.release()).isEqualTo(RELEASED);
    assertThat(c.tryTake(name("other"))).isPresent();
  }

  @Test
  void list_showsWhatIsHeld_inByteOrder() {
    String prefix = name("list") + "/";
    for (String end : List.of("b", "a", "Z", "é", "\uffee", "😀", "10", "9")) {
      a.take(prefix + end);
    }

    assertThat(b.fenceline().list(prefix, 100))
        .extracting(report -> report.name().substring(prefix.length()))
        .containsExactly("10", "9", "Z", "a", "b", "é", "\uffee", "😀");
  }

  @Test
  void list_showsHolders() {
    Hold hold = a.take(ledger);

    List<LockReport> found = b.fenceline().list(ledger, 10);

    assertThat(found).hasSize(1);
    assertThat(found.get(0).holders().get(0).id()).isEqualTo(hold.id());
    assertThat(found.get(0).holders().get(0).token()).isEqualTo(hold.token());
  }

  @Test
  void list_givesNoMoreThanTheLimit() {
    String prefix = name("limit") + "/";
    for (int i = 0; i < 5; i++) {
      a.take(prefix + i);
    }

    assertThat(b.fenceline().list(prefix, 3))
        .extracting(LockReport::name)
        .containsExactly(prefix + "0", prefix + "1", prefix + "2");
    assertThatThrownBy(() -> b.fenceline().list(prefix, 0))
        .isInstanceOf(InvalidSettingException.class);
  }

  @Test
  void list_leavesOutWhatIsFree() {
    String prefix = name("free") + "/";
    a.take(prefix + "released").release();
    a.take(prefix + "expired", fixed());
    elapseUntilFree(b, prefix + "expired", lease);
    a.take(prefix + "held");

    assertThat(b.fenceline().list(prefix, 10))
        .extracting(LockReport::name)
        .containsExactly(prefix + "held");
  }

  @Test
  void listOfEverything_hasWhatIsHeld() {
    Hold hold = a.take(ledger);

    assertThat(b.fenceline().list("", 100_000)).extracting(LockReport::name).contains(hold.name());
  }

  @Test
  void forcedRelease_opensTheName() {
    Hold hold = a.take(ledger);

    assertThat(b.fenceline().forceRelease(ledger, hold.token())).isTrue();

    assertThat(b.take(ledger).token()).isGreaterThan(hold.token());
  }

  @Test
  void forcedRelease_letsTheNextWaiterIn() {
    Hold hold = a.take(ledger);
    CompletableFuture<Hold> next = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    assertThat(c.fenceline().forceRelease(ledger, hold.token())).isTrue();

    assertThat(get(next).token()).isGreaterThan(hold.token());
  }

  @Test
  void forcedReleaseOfAnOldToken_leavesTheNewHolderAlone() {
    Hold old = a.take(ledger);
    old.release();
    Hold current = a.take(ledger);

    assertThat(b.fenceline().forceRelease(ledger, old.token())).isFalse();

    assertThat(c.tryTake(ledger)).isEmpty();
    assertThat(current.release()).isEqualTo(RELEASED);
  }

  @Test
  void forcedReleaseOfAFreeName_doesNothing() {
    Hold old = a.take(ledger);
    old.release();

    assertThat(b.fenceline().forceRelease(ledger, old.token())).isFalse();
    assertThatThrownBy(() -> b.fenceline().forceRelease(ledger, 0))
        .isInstanceOf(InvalidSettingException.class);
  }

  @Test
  void forcedRelease_takesATokenThatWasHandedOn() {
    Peer d = peer("d", it -> it.handOff(new HandOff(10, Duration.ofDays(1))));
    Hold first = d.take(ledger);
    CompletableFuture<Hold> second = d.lock(ledger).acquireAsync(ample);
    first.release();
    Hold handedOn = get(second);
    assertThat(handedOn.token()).isGreaterThan(first.token());

    assertThat(b.fenceline().forceRelease(ledger, handedOn.token())).isTrue();

    assertThat(b.take(ledger).token()).isGreaterThan(handedOn.token());
  }

  @Test
  void forcedReleaseOfOneReader_leavesTheOthersAlone() {
    if (!givesOrRefuses(Guarantee.SHARED_MODE, () -> a.fenceline().readWriteLock(ledger))) {
      return;
    }
    List<Hold> readers = new ArrayList<>();
    for (Peer peer : List.of(a, b)) {
      readers.add(peer.fenceline().readWriteLock(ledger).readLock().tryAcquire().orElseThrow());
    }

    assertThat(c.fenceline().forceRelease(ledger, readers.get(0).token())).isTrue();

    assertThat(c.inspect(ledger).holders())
        .extracting(LockReport.Holder::id)
        .containsExactly(readers.get(1).id());
  }

  @Test
  void asynchronousInspection_saysTheSame() {
    Hold hold = a.take(ledger);

    assertThat(get(b.fenceline().inspectAsync(ledger)).holders().get(0).id()).isEqualTo(hold.id());
    assertThat(get(b.fenceline().listAsync(ledger, 10))).hasSize(1);
    assertThat(get(b.fenceline().forceReleaseAsync(ledger, hold.token()))).isTrue();
  }
}
