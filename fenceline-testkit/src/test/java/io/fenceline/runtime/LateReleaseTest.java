package io.fenceline.runtime;

import static io.fenceline.testkit.fault.LossyStore.Fault.LOSE_REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.ReleaseOutcome;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.ManualTime;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.log.LogCapture;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** A lock that can't be given back for seconds is warned of once: others wait for it. */
class LateReleaseTest {
  private final ManualTime time = new ManualTime();
  private final LogCapture log = LogCapture.open();
  private final LossyStore[] store = new LossyStore[1];
  private final Fenceline client =
      Fenceline.builder()
          .store(LossyStore.over(MemorySpace.create(time::wallMillis).factory(), store))
          .time(time)
          .connect();

  @AfterEach
  void close() {
    store[0].heal();
    time.advance(Duration.ofSeconds(5)); // Closing waits for the last repeat.
    client.close();
    log.close();
  }

  private List<String> lines() {
    return log.at(Level.WARN).stream().filter(line -> line.contains("given back")).toList();
  }

  private void releaseInVain(LossyStore.Operation operation) {
    var hold = client.lock("ledger").tryAcquire().orElseThrow();
    store[0].fault(operation, LOSE_REQUEST);
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
  }

  @Test
  void releaseThatFailsForSeconds_isWarnedOfOnce_withItsCause() {
    releaseInVain(LossyStore.Operation.RELEASE);
    time.advance(Duration.ofMillis(4_999));
    assertThat(lines()).isEmpty();

    time.advance(Duration.ofSeconds(20));

    assertThat(lines())
        .containsExactly(
            "Lock 'ledger' is still not given back: its release has failed for 6.3s (repeats=7,"
                + " cause=The RELEASE was lost on its way (store=memory:), store=memory:). Whoever"
                + " waits gets it when the store answers, or when the lease is over.");
  }

  @Test
  void releaseThatIsAnsweredInTime_isNoWarning() {
    releaseInVain(LossyStore.Operation.RELEASE);
    time.advance(Duration.ofSeconds(4));
    store[0].heal();
    time.advance(Duration.ofSeconds(20));

    assertThat(lines()).isEmpty();
    assertThat(client.lock("ledger").tryAcquire()).isPresent();
  }

  /** Nobody may wait for what it withdraws. */
  @Test
  void withdrawalThatFails_isNoWarning() {
    store[0].fault(LossyStore.Operation.CLAIM, LossyStore.Fault.LOSE_REPLY);
    store[0].fault(LossyStore.Operation.WITHDRAW, LOSE_REQUEST);
    var taken = client.lock("ledger").tryAcquireAsync();
    time.advance(Duration.ofSeconds(20));

    assertThat(taken).isCompletedExceptionally();
    assertThat(store[0].asked(LossyStore.Operation.WITHDRAW)).isGreaterThan(5);
    assertThat(lines()).isEmpty();
  }
}
