package io.fenceline.micrometer;

import io.fenceline.event.LossReason;
import io.fenceline.metrics.AcquireOutcome;
import io.fenceline.metrics.HoldOutcome;
import io.fenceline.metrics.RenewOutcome;
import io.fenceline.metrics.RequestOutcome;
import io.fenceline.metrics.StoreOperation;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.TimeWindowMax;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * The meters of one group of locks in one kind of store.
 *
 * <p>What is a rate in an alert is there from the first lock of the group on: a counter that begins
 * with its first event hides that event from Prometheus. Requests and renewals come as they happen,
 * since there are many kinds of them.
 */
final class Meters {
  private static final AcquireOutcome[] ACQUIRED = AcquireOutcome.values();
  private static final HoldOutcome[] HELD = HoldOutcome.values();
  private static final LossReason[] LOST = LossReason.values();
  private static final int REQUESTS = RequestOutcome.values().length;

  /** How long the smallest margin is shown: between two and three of these. */
  private static final Duration MARGIN_WINDOW = Duration.ofMinutes(1);

  private final FencelineMetrics metrics; // As long as there are meters, there are groups.
  private final MeterRegistry registry;
  private final Tags tags;
  private final Timer[] acquire = new Timer[ACQUIRED.length];
  private final Timer[] hold = new Timer[HELD.length];
  private final Counter[] lost = new Counter[LOST.length];
  private final AtomicReferenceArray<Timer> renew =
      new AtomicReferenceArray<>(RenewOutcome.values().length);
  private final AtomicReferenceArray<Timer> request =
      new AtomicReferenceArray<>(StoreOperation.values().length * REQUESTS);
  final LongTaskTimer holding;
  final LongTaskTimer waiting;
  final Counter contended;
  final Counter leaked;
  final Counter dropped;
  final LongAdder holds = new LongAdder();
  final LongAdder waiters = new LongAdder();
  final LongAdder undos = new LongAdder();
  private final TimeWindowMax spent;

  Meters(FencelineMetrics metrics, MeterRegistry registry, Tags tags) {
    this.metrics = metrics;
    this.registry = registry;
    this.tags = tags;
    for (AcquireOutcome outcome : ACQUIRED) {
      acquire[outcome.ordinal()] =
          timer(
              "fenceline.acquire",
              "How long it took to acquire a lock, or not to",
              Tags.of("outcome", outcome.tag()));
    }
    for (HoldOutcome outcome : HELD) {
      hold[outcome.ordinal()] =
          timer("fenceline.hold", "How long a lock was held", Tags.of("outcome", outcome.tag()));
    }
    for (LossReason reason : LOST) {
      lost[reason.ordinal()] =
          counter(
              "fenceline.lost",
              "Holds that were lost before they were released",
              "holds",
              Tags.of("reason", reason.name().toLowerCase(Locale.ROOT)));
    }
    contended =
        counter(
            "fenceline.contended",
            "Acquires that found the lock held, and waited",
            "acquires",
            Tags.empty());
    leaked =
        counter(
            "fenceline.leaked",
            "Holds that were dropped without release, or exceeded maxHold",
            "holds",
            Tags.empty());
    dropped =
        counter(
            "fenceline.events.dropped",
            "Events that a listener missed because it was too slow",
            "events",
            Tags.empty());
    holding =
        longTaskTimer("fenceline.hold.active", "Locks that are held now, and for how long already");
    waiting =
        longTaskTimer(
            "fenceline.acquire.active", "Acquires that wait now, and for how long already");
    gauge("fenceline.holds", "Locks that are held now", "holds", holds);
    gauge("fenceline.waiters", "Acquires that wait now", "waiters", waiters);
    gauge(
        "fenceline.undos.pending",
        "Releases and withdrawals that the store has not answered yet",
        "requests",
        undos);
    spent = new TimeWindowMax(registry.config().clock(), MARGIN_WINDOW.toMillis(), 3);
    Gauge.builder("fenceline.lease.margin", this, Meters::margin)
        .description(
            "The smallest share of a lease that was left at a renewal, over some minutes; 1 if there"
                + " was none")
        .baseUnit("ratio")
        .tags(tags)
        .strongReference(true)
        .register(registry);
  }

  private Timer timer(String name, String description, Tags more) {
    return Timer.builder(name).description(description).tags(tags.and(more)).register(registry);
  }

  private Counter counter(String name, String description, String unit, Tags more) {
    return Counter.builder(name)
        .description(description)
        .baseUnit(unit)
        .tags(tags.and(more))
        .register(registry);
  }

  private LongTaskTimer longTaskTimer(String name, String description) {
    return LongTaskTimer.builder(name).description(description).tags(tags).register(registry);
  }

  private void gauge(String name, String description, String unit, LongAdder value) {
    Gauge.builder(name, this, meters -> value.sum())
        .description(description)
        .baseUnit(unit)
        .tags(tags)
        .strongReference(true)
        .register(registry);
  }

  Timer acquire(AcquireOutcome outcome) {
    return acquire[outcome.ordinal()];
  }

  Timer hold(HoldOutcome outcome) {
    return hold[outcome.ordinal()];
  }

  Counter lost(LossReason reason) {
    return lost[reason.ordinal()];
  }

  Timer renew(RenewOutcome outcome) {
    Timer known = renew.get(outcome.ordinal());
    if (known == null) {
      known =
          timer(
              "fenceline.renew",
              "How long the store took to answer a renewal",
              Tags.of("outcome", outcome.tag()));
      renew.set(outcome.ordinal(), known); // Another thread may set the same one.
    }
    return known;
  }

  Timer request(StoreOperation operation, RequestOutcome outcome) {
    int index = operation.ordinal() * REQUESTS + outcome.ordinal();
    Timer known = request.get(index);
    if (known == null) {
      known =
          timer(
              "fenceline.store.request",
              "How long the store took to answer a request",
              Tags.of("operation", operation.tag(), "outcome", outcome.tag()));
      request.set(index, known);
    }
    return known;
  }

  /** Notes how much of a lease was left at a renewal. */
  void renewedWith(double leaseLeft) {
    spent.record(1 - leaseLeft);
  }

  private double margin() {
    return Math.max(0, 1 - spent.poll());
  }

  FencelineMetrics metrics() {
    return metrics;
  }
}
