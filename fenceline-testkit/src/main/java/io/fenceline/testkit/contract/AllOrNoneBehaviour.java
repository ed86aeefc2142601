package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.ALREADY_LOST;
import static io.fenceline.ReleaseOutcome.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.MultiHold;
import io.fenceline.event.Lost;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Several names: all or none, without deadlock. */
abstract class AllOrNoneBehaviour extends Scenario {

  AllOrNoneBehaviour(LockContract contract) {
    super(contract::harness);
  }

  private String x() {
    return name("x");
  }

  private String y() {
    return name("y");
  }

  private String z() {
    return name("z");
  }

  @Test
  void severalNames_areHeldTogether_andReleasedTogether() {
    MultiHold all = a.fenceline().lockAll(z(), x(), y()).tryAcquire().orElseThrow();

    assertThat(all.isValid()).isTrue();
    assertThat(all.holds()).extracting(Hold::name).containsExactly(x(), y(), z());
    assertThat(all.hold(y()).token()).isPositive();
    assertThat(b.tryTake(x())).isEmpty();
    assertThat(b.tryTake(z())).isEmpty();

    assertThat(all.release()).isEqualTo(RELEASED);
    assertThat(b.tryTake(x())).isPresent();
    assertThat(b.tryTake(y())).isPresent();
    assertThat(b.tryTake(z())).isPresent();
  }

  @Test
  void tryThatFindsOneHeld_takesNone() {
    b.take(y());

    assertThat(a.fenceline().lockAll(x(), y(), z()).tryAcquire()).isEmpty();

    awaitFree(c, x());
    awaitFree(c, z());
    assertThat(c.tryTake(x())).isPresent();
    assertThat(c.tryTake(z())).isPresent();
  }

  @Test
  void timeoutOnOne_takesNone() {
    b.take(y());
    CompletableFuture<MultiHold> waiting =
        a.fenceline().lockAll(x(), y()).acquireAsync(lease.dividedBy(2));
    awaitContended(a, y(), 1);

    elapse(lease.dividedBy(2));

    assertThat(failure(waiting)).isInstanceOf(LockTimeoutException.class);
    awaitFree(c, x());
  }

  @Test
  void cancelledWait_takesNone() {
    b.take(y());
    CompletableFuture<MultiHold> waiting = a.fenceline().lockAll(x(), y()).acquireAsync(ample);
    awaitContended(a, y(), 1);

    waiting.cancel(true);

    awaitFree(c, x());
    await("nobody to wait", () -> c.inspect(y()).waiters().isEmpty());
  }

  @Test
  void interruptedWait_takesNone() {
    b.take(y());
    Blocked<MultiHold> waiting = acquiring(a.fenceline().lockAll(x(), y()), ample);
    awaitContended(a, y(), 1);

    waiting.interrupt();

    assertThat(waiting.failure()).isInstanceOf(InterruptedException.class);
    awaitFree(c, x());
  }

  @Test
  void wait_endsWhenTheLastNameIsFree() {
    Hold other = b.take(y());
    CompletableFuture<MultiHold> waiting = a.fenceline().lockAll(x(), y()).acquireAsync(ample);
    awaitContended(a, y(), 1);

    other.release();

    assertThat(get(waiting).isValid()).isTrue();
  }

  @Test
  void anyOrder_isFreeOfDeadlock() {
    AtomicInteger inside = new AtomicInteger();
    List<Blocked<Boolean>> workers = new ArrayList<>();
    List<List<String>> orders =
        List.of(List.of(x(), y(), z()), List.of(z(), y(), x()), List.of(y(), z(), x()));
    List<Peer> processes = List.of(a, b, c);
    for (int i = 0; i < 3; i++) {
      Peer peer = processes.get(i);
      List<String> order = orders.get(i);
      workers.add(
          inThread(
              () -> {
                for (int round = 0; round < 5; round++) {
                  try (MultiHold all = peer.fenceline().lockAll(order, renewed()).acquire(ample)) {
                    assertThat(inside.incrementAndGet()).isOne();
                    assertThat(all.isValid()).isTrue();
                    inside.decrementAndGet();
                  }
                }
                return true;
              }));
    }

    workers.forEach(worker -> assertThat(worker.result()).isTrue());
  }

  @Test
  void nameGivenTwice_isTakenOnce() {
    MultiHold all = a.fenceline().lockAll(x(), x()).tryAcquire().orElseThrow();

    assertThat(all.holds()).hasSize(1);
  }

  @Test
  void lossOfOne_isTheLossOfAll() {
    MultiHold all = a.fenceline().lockAll(x(), y()).tryAcquire().orElseThrow();
    CompletableFuture<Lost> lost = all.lost();

    assertThat(b.fenceline().forceRelease(y(), all.hold(y()).token())).isTrue();
    elapse(lease);

    assertThat(get(lost).name()).isEqualTo(y());
    assertThat(all.isValid()).isFalse();
    assertThat(all.release()).isEqualTo(ALREADY_LOST);
    awaitFree(c, x());
  }

  @Test
  void noNamesAtAll_areRefused() {
    assertThatThrownBy(() -> a.fenceline().lockAll()).isInstanceOf(InvalidSettingException.class);
  }
}
