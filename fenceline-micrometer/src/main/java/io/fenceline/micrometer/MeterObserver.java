package io.fenceline.micrometer;

import io.fenceline.event.Leaked;
import io.fenceline.event.LockEvent;
import io.fenceline.event.Lost;
import io.fenceline.metrics.AcquireOutcome;
import io.fenceline.metrics.HoldFacts;
import io.fenceline.metrics.HoldOutcome;
import io.fenceline.metrics.LockObserver;
import io.fenceline.metrics.RenewOutcome;
import io.fenceline.metrics.RequestOutcome;
import io.fenceline.metrics.StoreOperation;
import io.micrometer.core.instrument.LongTaskTimer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Counts what one client does. */
final class MeterObserver implements LockObserver {

  /** An acquire, then its hold: both are in one long-task timer at a time. */
  private static final class Cycle {
    final Meters meters;
    LongTaskTimer.@Nullable Sample active;

    Cycle(Meters meters) {
      this.meters = meters;
    }
  }

  private final KindMeters kind;
  private volatile boolean down;

  MeterObserver(KindMeters kind) {
    this.kind = kind;
  }

  boolean isDown() {
    return down;
  }

  @Override
  public Object acquireStarted(String name) {
    return new Cycle(kind.of(name));
  }

  @Override
  public void waiting(@Nullable Object context) {
    if (context instanceof Cycle cycle) {
      cycle.meters.waiters.increment();
      cycle.active = cycle.meters.waiting.start();
    }
  }

  private static void waited(Cycle cycle) {
    LongTaskTimer.Sample active = cycle.active;
    if (active != null) {
      cycle.active = null;
      active.stop();
      cycle.meters.waiters.decrement();
    }
  }

  @Override
  public void contended(@Nullable Object context) {
    if (context instanceof Cycle cycle) {
      cycle.meters.contended.increment();
    }
  }

  @Override
  public void acquired(
      @Nullable Object context, AcquireOutcome outcome, HoldFacts hold, long waitedNanos) {
    if (context instanceof Cycle cycle) {
      waited(cycle);
      cycle.meters.acquire(outcome).record(waitedNanos, TimeUnit.NANOSECONDS);
      cycle.meters.holds.increment();
      cycle.active = cycle.meters.holding.start();
    }
  }

  @Override
  public void notAcquired(
      @Nullable Object context,
      AcquireOutcome outcome,
      long waitedNanos,
      @Nullable Throwable cause) {
    if (context instanceof Cycle cycle) {
      waited(cycle);
      cycle.meters.acquire(outcome).record(waitedNanos, TimeUnit.NANOSECONDS);
    }
  }

  @Override
  public void leaked(@Nullable Object context, Leaked event) {
    if (context instanceof Cycle cycle) {
      cycle.meters.leaked.increment();
    }
  }

  @Override
  public void lost(@Nullable Object context, Lost event) {
    if (context instanceof Cycle cycle) {
      cycle.meters.lost(event.reason()).increment();
    }
  }

  @Override
  public void holdEnded(@Nullable Object context, HoldOutcome outcome, long heldNanos) {
    if (context instanceof Cycle cycle) {
      LongTaskTimer.Sample active = cycle.active;
      if (active != null) {
        cycle.active = null;
        active.stop();
      }
      cycle.meters.holds.decrement();
      cycle.meters.hold(outcome).record(heldNanos, TimeUnit.NANOSECONDS);
    }
  }

  @Override
  public void renewal(String name, RenewOutcome outcome, long nanos, double leaseLeft) {
    Meters meters = kind.of(name);
    meters.renew(outcome).record(nanos, TimeUnit.NANOSECONDS);
    if (!Double.isNaN(leaseLeft)) {
      meters.renewedWith(leaseLeft);
    }
  }

  @Override
  public void storeRequest(
      String name, StoreOperation operation, RequestOutcome outcome, long nanos) {
    kind.of(name).request(operation, outcome).record(nanos, TimeUnit.NANOSECONDS);
    boolean silent = outcome == RequestOutcome.UNAVAILABLE;
    if (down != silent) { // Written when it changes only: all threads read it.
      down = silent;
    }
  }

  @Override
  public void undoStarted(String name) {
    kind.of(name).undos.increment();
  }

  @Override
  public void undoEnded(String name) {
    kind.of(name).undos.decrement();
  }

  @Override
  public void eventDropped(LockEvent event) {
    kind.of(event.name()).dropped.increment();
  }

  @Override
  public void closed() {
    kind.remove(this);
  }
}
