package io.fenceline.jdbc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.QueuedClaim;
import io.fenceline.spi.StoreContext;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** When waiters look for their turn, by a time of our own; no database takes part. */
class QueuePollerTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final ManualTime time = new ManualTime();
  private final RandomGenerator random = new Random(25);
  private final StoreContext context =
      new StoreContext(new ClientInfo("test", "host", 1), time, random, LEASE, LEASE);
  private final Tables tables = new Tables();
  private final QueuePoller poller =
      new QueuePoller(context, () -> PollInterval.millis(10, 160), tables, () -> {});
  private final List<ClaimRequest> asked = new ArrayList<>();

  /** What the database would answer. */
  private static final class Tables implements QueuePoller.Queues {
    private final List<Owner> first = new ArrayList<>();
    private final Set<Owner> forgotten = new HashSet<>();
    private long nanosUntilEnd = Long.MAX_VALUE;
    private long changes = -1;
    private Runnable whenAsked = () -> {};
    private int looks;
    private int beats;

    @Override
    public long changes() {
      Runnable first = whenAsked;
      whenAsked = () -> {};
      first.run();
      return changes;
    }

    @Override
    public QueuePoller.Turn turn(List<String> names) {
      looks++;
      return new QueuePoller.Turn(List.copyOf(first), nanosUntilEnd);
    }

    @Override
    public QueuePoller.Signs beat(List<Owner> owners, List<String> names) {
      beats++;
      Set<Owner> alive = new HashSet<>(owners);
      alive.removeAll(forgotten);
      return new QueuePoller.Signs(alive, new QueuePoller.Turn(List.copyOf(first), nanosUntilEnd));
    }
  }

  static final class Ignored implements ClaimHandler {
    @Override
    public void granted(Grant grant) {}

    @Override
    public void waiting(Obstacle obstacle) {}

    @Override
    public void refused(Obstacle obstacle) {}

    @Override
    public void failed(RuntimeException cause) {}
  }

  private ClaimRequest waits(String name, Duration lease) {
    return waits(name, lease, null);
  }

  private ClaimRequest waits(String name, Duration lease, @Nullable Duration told) {
    ClaimRequest request =
        new ClaimRequest(name, Owner.draw(random), Mode.EXCLUSIVE, lease, Duration.ZERO, true);
    poller.add(
        request,
        new QueuedClaim(
            "memory",
            request,
            new Ignored(),
            context,
            Duration.ofDays(1),
            again -> {
              asked.add(again);
              return CompletableFuture.completedFuture(new ClaimAnswer.Waiting(Obstacle.UNKNOWN));
            }),
        told);
    return request;
  }

  @Test
  void looksBecomeRarer_andAreFrequentAgain_onceSomeoneComes() {
    waits("ledger", LEASE);
    time.advance(Duration.ofMillis(10));
    assertThat(tables.looks).isEqualTo(1);
    time.advance(Duration.ofSeconds(1));
    int rare = tables.looks;
    assertThat(rare).as("at 10, 30, 70, 150 ms, then each 160 ms").isBetween(8, 13);

    waits("orders", LEASE);
    time.advance(Duration.ofMillis(10));
    assertThat(tables.looks).isEqualTo(rare + 1);
  }

  @Test
  void onlyTheFirstOfItsQueue_isAskedFor() {
    waits("ledger", LEASE);
    ClaimRequest second = waits("orders", LEASE);
    tables.first.add(second.owner());
    tables.first.add(Owner.draw(random)); // Of another process.
    time.advance(Duration.ofMillis(10));
    assertThat(asked).containsExactly(second);
  }

  @Test
  void endOfAHolder_isLookedFor_asSoonAsItIsOver() {
    waits("ledger", LEASE);
    tables.nanosUntilEnd = Duration.ofMillis(500).toNanos();
    time.advance(Duration.ofMillis(499));
    int before = tables.looks;
    tables.nanosUntilEnd = Long.MAX_VALUE;
    assertThat(before).isPositive();
    time.advance(Duration.ofMillis(170));
    assertThat(tables.looks).isGreaterThan(before);
  }

  @Test
  void nothingIsRead_whereNothingWasWritten_andNobodysTimeIsOver() {
    tables.changes = 1;
    tables.nanosUntilEnd = Duration.ofSeconds(2).toNanos();
    waits("ledger", LEASE);
    time.advance(Duration.ofSeconds(1));
    assertThat(tables.looks).isEqualTo(1);
    tables.changes = 2;
    time.advance(Duration.ofMillis(200));
    assertThat(tables.looks).isGreaterThan(1);
  }

  /**
   * It joined, and room was made for it, after the look had listed the names and before it read:
   * what it did not look for has been written, and nothing else will be.
   */
  @Test
  void claimThatCameDuringALook_isLookedFor_beforeItsSignOfLife() {
    tables.changes = 1;
    tables.nanosUntilEnd = LEASE.toNanos();
    waits("orders", LEASE);
    List<ClaimRequest> came = new ArrayList<>();
    tables.whenAsked =
        () -> {
          came.add(waits("ledger", LEASE, LEASE));
          tables.changes = 2;
        };
    time.advance(Duration.ofMillis(10));
    assertThat(came).hasSize(1);

    tables.first.add(came.get(0).owner());
    time.advance(Duration.ofSeconds(1));
    assertThat(tables.beats).isZero();
    assertThat(asked).isNotEmpty().containsOnly(came.get(0));
  }

  @Test
  void signsOfLife_comeInTime_forTheShortestPatience() {
    ClaimRequest request = waits("ledger", Duration.ofSeconds(3));
    assertThat(QueuePoller.patience(request)).isEqualTo(Duration.ofSeconds(3));
    time.advance(Duration.ofMillis(999));
    assertThat(tables.beats).isZero();
    time.advance(Duration.ofMillis(1_900));
    assertThat(tables.beats).isBetween(1, 2);
  }

  @Test
  void waiterThatTheDatabaseHasForgotten_asksForANewPlace() {
    ClaimRequest forgotten = waits("ledger", Duration.ofSeconds(3));
    waits("orders", Duration.ofSeconds(3));
    tables.forgotten.add(forgotten.owner());
    time.advance(Duration.ofMillis(1_300));
    assertThat(asked).containsExactly(forgotten);
  }

  @Test
  void messageThatComesBeforeTheAnswer_isRemembered() {
    ClaimRequest request =
        new ClaimRequest("ledger", Owner.draw(random), Mode.EXCLUSIVE, LEASE, Duration.ZERO, true);
    poller.hintNow(request.owner().id());
    QueuedClaim claim =
        new QueuedClaim(
            "memory",
            request,
            new Ignored(),
            context,
            Duration.ofDays(1),
            again -> {
              asked.add(again);
              return CompletableFuture.completedFuture(new ClaimAnswer.Waiting(Obstacle.UNKNOWN));
            });
    poller.add(request, claim, null);
    assertThat(asked).containsExactly(request);
  }

  @Test
  void withoutWaiters_noTimerIsLeft() {
    ClaimRequest request = waits("ledger", LEASE);
    assertThat(time.timers()).isPositive();
    assertThat(poller.remove(request.owner())).isNotNull();
    time.advance(Duration.ofSeconds(1));
    assertThat(time.timers()).isZero();
    assertThat(poller.has(request.owner())).isFalse();
  }
}
