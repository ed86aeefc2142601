package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Acquirable;
import io.fenceline.FencedReadWriteLock;
import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.Lost;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.Test;

/** Readers share, writers do not, and neither starves. */
@SuppressWarnings("LockNotBeforeTry") // When it is unlocked is what the tests are about.
abstract class SharingBehaviour extends Scenario {

  SharingBehaviour(LockContract contract) {
    super(contract::harness);
  }

  private boolean shares() {
    return givesOrRefuses(Guarantee.SHARED_MODE, () -> a.fenceline().readWriteLock(ledger));
  }

  private Acquirable<Hold> reading(Peer peer) {
    return peer.fenceline().readWriteLock(ledger).readLock();
  }

  private Hold read(Peer peer) {
    return reading(peer).tryAcquire().orElseThrow();
  }

  @Test
  void readers_holdTogether() {
    if (!shares()) {
      return;
    }
    List<Hold> readers = List.of(read(a), read(a), read(b), read(c));

    assertThat(readers).allMatch(Hold::isValid);
    assertThat(a.inspect(ledger).holders()).hasSize(4);
    assertThat(a.inspect(ledger).holders()).allMatch(holder -> holder.mode().equals("shared"));
  }

  @Test
  void writer_keepsReadersOut() {
    if (!shares()) {
      return;
    }
    a.take(ledger);

    assertThat(reading(b).tryAcquire()).isEmpty();
    assertThat(reading(a).tryAcquire()).isEmpty();
  }

  @Test
  void readers_keepWritersOut() {
    if (!shares()) {
      return;
    }
    read(a);

    assertThat(b.tryTake(ledger)).isEmpty();
    assertThat(a.tryTake(ledger)).isEmpty();
    assertThat(b.fenceline().readWriteLock(ledger).writeLock().tryAcquire()).isEmpty();
  }

  @Test
  void readerThatIsLeft_keepsAWriterOut_whoKnewTheNameFree() {
    if (!shares()) {
      return;
    }
    a.take(ledger).release();
    Hold first = read(b);
    read(c);
    assertThat(first.release()).isEqualTo(RELEASED);

    assertThat(a.tryTake(ledger)).isEmpty();
  }

  @Test
  void writer_waitsForTheLastReader() {
    if (!shares()) {
      return;
    }
    Hold one = read(a);
    Hold two = read(b);
    CompletableFuture<Hold> writer = c.lock(ledger).acquireAsync(ample);
    awaitContended(c, ledger, 1);

    one.release();
    elapse(lease.dividedBy(10));
    assertThat(writer).isNotDone();
    two.release();

    assertThat(get(writer).token()).isGreaterThan(Math.max(one.token(), two.token()));
  }

  @Test
  void readerThatComesAfterAWaitingWriter_waitsBehindIt() {
    if (!shares() || !givesOrRefuses(Guarantee.FAIR)) {
      return;
    }
    Hold reader = read(a);
    CompletableFuture<Hold> writer = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    assertThat(reading(c).tryAcquire()).isEmpty();
    CompletableFuture<Hold> late = reading(c).acquireAsync(ample);
    awaitContended(c, ledger, 1);
    reader.release();

    Hold writing = get(writer);
    assertThat(late).isNotDone();
    writing.release();
    assertThat(get(late).token()).isGreaterThan(writing.token());
  }

  @Test
  void writersGetTheirTurn_thoughReadersKeepComing() {
    if (!shares() || !givesOrRefuses(Guarantee.FAIR)) {
      return;
    }
    List<Hold> readers = new ArrayList<>(List.of(read(a), read(a)));
    CompletableFuture<Hold> writer = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    List<CompletableFuture<Hold>> more = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      more.add(reading(c).acquireAsync(ample));
    }
    readers.forEach(Hold::release);
    Hold writing = get(writer);
    writing.release();

    more.forEach(reader -> assertThat(get(reader).token()).isGreaterThan(writing.token()));
  }

  @Test
  void waitingReaders_areLetInTogether() {
    if (!shares()) {
      return;
    }
    Hold writer = a.take(ledger);
    CompletableFuture<Hold> one = reading(b).acquireAsync(ample);
    CompletableFuture<Hold> two = reading(c).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    awaitContended(c, ledger, 1);

    writer.release();

    assertThat(get(one).isValid()).isTrue();
    assertThat(get(two).isValid()).isTrue();
    assertThat(get(one).isValid()).isTrue();
  }

  @Test
  void readers_areRenewed_andKeepWritersOutForAsLong() {
    if (!shares()) {
      return;
    }
    Hold reader = read(a);

    elapse(lease.multipliedBy(2));

    assertThat(reader.isValid()).isTrue();
    assertThat(b.tryTake(ledger)).isEmpty();
    assertThat(reader.release()).isEqualTo(RELEASED);
  }

  @Test
  void readerWhoseLeaseEnded_isLost_andLetsTheWriterIn() {
    if (!shares()) {
      return;
    }
    Hold reader =
        a.fenceline().readWriteLock(ledger, fixed()).readLock().tryAcquire().orElseThrow();
    CompletableFuture<Lost> lost = reader.lost();

    elapseUntilFree(b, ledger, lease);

    assertThat(get(lost).token()).isEqualTo(reader.token());
    assertThat(b.take(ledger).token()).isGreaterThan(reader.token());
  }

  @Test
  void releaseOfOneReader_leavesTheOthersAlone() {
    if (!shares()) {
      return;
    }
    Hold one = read(a);
    Hold two = read(b);

    one.release();
    elapse(lease.multipliedBy(2));

    assertThat(two.isValid()).isTrue();
    assertThat(c.tryTake(ledger)).isEmpty();
    assertThat(a.inspect(ledger).holders())
        .extracting(LockReport.Holder::id)
        .containsExactly(two.id());
  }

  @Test
  void writeLock_isTheLockOfTheSameName() {
    if (!shares()) {
      return;
    }
    Hold writer = a.fenceline().readWriteLock(ledger).writeLock().tryAcquire().orElseThrow();

    assertThat(writer.fencingToken().exclusive()).isTrue();
    assertThat(b.tryTake(ledger)).isEmpty();
  }

  @Test
  void cancelledWriter_letsTheReadersBehindItIn() {
    if (!shares()) {
      return;
    }
    read(a);
    CompletableFuture<Hold> writer = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    CompletableFuture<Hold> reader = reading(c).acquireAsync(ample);

    writer.cancel(true);

    assertThat(get(reader).isValid()).isTrue();
  }

  // Waiting for oneself. ------------------------------------------------------------------------

  @Test
  void writerWhoseOwnClientReads_isToldThatAReadLockCannotBeUpgraded() {
    if (!shares()) {
      return;
    }
    read(b); // The holder that the store names may be this one.
    read(a);
    Blocked<Hold> upgrade =
        acquiring(a.fenceline().readWriteLock(ledger).writeLock(), lease.dividedBy(2));
    Blocked<Hold> another = acquiring(c.lock(ledger), lease.dividedBy(2));
    elapseUntil("both to time out", () -> upgrade.isDone() && another.isDone());

    assertThat(upgrade.failure())
        .isInstanceOfSatisfying(
            LockTimeoutException.class, e -> assertThat(e.heldByThisClient()).isTrue())
        .hasMessageContaining("This client itself holds the read lock")
        .hasMessageContaining("can't be upgraded: release it before you acquire the write lock");
    assertThat(another.failure())
        .isInstanceOfSatisfying(
            LockTimeoutException.class, e -> assertThat(e.heldByThisClient()).isFalse())
        .hasMessageNotContaining("This client itself");
  }

  @Test
  void readerWhoseOwnClientWrites_isToldHowToEnterAgain() {
    if (!shares()) {
      return;
    }
    a.take(ledger);
    Blocked<Hold> downgrade = acquiring(reading(a), lease.dividedBy(2));
    elapseUntil("it to time out", downgrade::isDone);

    assertThat(downgrade.failure())
        .isInstanceOfSatisfying(
            LockTimeoutException.class, e -> assertThat(e.heldByThisClient()).isTrue())
        .hasMessageContaining("This client itself holds the lock: to enter it again, use")
        .hasMessageContaining("reenter()");
  }

  @Test
  void readerThatReadsAgain_behindAWriter_isToldHowToEnterAgain() {
    if (!shares() || !givesOrRefuses(Guarantee.FAIR)) {
      return;
    }
    read(a);
    CompletableFuture<Hold> writer = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    Blocked<Hold> nested = acquiring(reading(a), lease.dividedBy(2));
    elapseUntil("it to time out", nested::isDone);

    assertThat(nested.failure())
        .isInstanceOfSatisfying(
            LockTimeoutException.class, e -> assertThat(e.heldByThisClient()).isTrue())
        .hasMessageContaining("reenter()");
    writer.cancel(true);
  }

  // By thread. ----------------------------------------------------------------------------------

  @Test
  void readersByThread_shareTheName_andKeepWritersOut() {
    if (!shares()) {
      return;
    }
    ReadWriteLock ofA = a.fenceline().readWriteLock(ledger).asReadWriteLock();
    ReadWriteLock ofB = b.fenceline().readWriteLock(ledger).asReadWriteLock();
    ofA.readLock().lock();
    ofA.readLock().lock();
    ofB.readLock().lock();

    assertThat(inThread(() -> ofA.writeLock().tryLock()).result()).isFalse();
    assertThat(inThread(() -> ofB.writeLock().tryLock()).result()).isFalse();
    ofA.readLock().unlock();
    ofB.readLock().unlock();
    assertThat(inThread(() -> ofB.writeLock().tryLock()).result()).isFalse();
    ofA.readLock().unlock();

    awaitFree(c, ledger);
    assertThat(ofB.writeLock().tryLock()).isTrue();
    ofB.writeLock().unlock();
  }

  @Test
  void writerByThread_mayReadToo_andOthersWaitForBoth() {
    if (!shares()) {
      return;
    }
    ReadWriteLock lock = a.fenceline().readWriteLock(ledger).asReadWriteLock();
    lock.writeLock().lock();
    lock.readLock().lock();
    lock.writeLock().unlock();

    assertThat(b.tryTake(ledger)).isEmpty();
    assertThatThrownBy(lock.writeLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
    lock.readLock().unlock();

    awaitFree(c, ledger);
    assertThatThrownBy(lock.readLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void readerByThread_thatWantsToWrite_isToldThatItWouldWaitForItself() {
    if (!shares()) {
      return;
    }
    ReadWriteLock lock = a.fenceline().readWriteLock(ledger).asReadWriteLock();
    lock.readLock().lock();

    assertThatThrownBy(lock.writeLock()::lock)
        .isInstanceOf(IllegalMonitorStateException.class)
        .hasMessageContaining("would wait for itself");
    assertThat(lock.writeLock().tryLock()).isFalse();

    lock.readLock().unlock();
    awaitFree(c, ledger);
  }

  @Test
  void readLock_isALockWithNameAndOptions() {
    if (!shares()) {
      return;
    }
    FencedReadWriteLock both = a.fenceline().readWriteLock(ledger, fixed());

    assertThat(both.readLock().name()).isEqualTo(ledger);
    assertThat(both.readLock().options()).isEqualTo(fixed()).isEqualTo(both.options());
    assertThat(both.readLock().tryRun(hold -> {})).isTrue();
    awaitFree(c, ledger);
  }
}
