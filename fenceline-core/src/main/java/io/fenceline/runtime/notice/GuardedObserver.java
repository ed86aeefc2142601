package io.fenceline.runtime.notice;

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
import org.jspecify.annotations.Nullable;

/** Guards locks against an observer that throws: its errors are logged, and nothing more. */
public final class GuardedObserver implements LockObserver {
  private final LockObserver to;
  private final Events events;

  public GuardedObserver(LockObserver to, Events events) {
    this.to = to;
    this.events = events;
  }

  private void failed(Throwable e) {
    try {
      events.warn("An observer failed ({})", to.getClass().getName(), e);
    } catch (Throwable again) {
      // A log that throws must not disturb a lock either.
    }
  }

  @Override
  public @Nullable Object acquireStarted(String name) {
    try {
      return to.acquireStarted(name);
    } catch (Throwable e) {
      failed(e);
      return null;
    }
  }

  @Override
  public void waiting(@Nullable Object context) {
    try {
      to.waiting(context);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void contended(@Nullable Object context) {
    try {
      to.contended(context);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void acquired(
      @Nullable Object context, AcquireOutcome outcome, HoldFacts hold, long waitedNanos) {
    try {
      to.acquired(context, outcome, hold, waitedNanos);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void notAcquired(
      @Nullable Object context,
      AcquireOutcome outcome,
      long waitedNanos,
      @Nullable Throwable cause) {
    try {
      to.notAcquired(context, outcome, waitedNanos, cause);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void leaked(@Nullable Object context, Leaked event) {
    try {
      to.leaked(context, event);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void lost(@Nullable Object context, Lost event) {
    try {
      to.lost(context, event);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void holdEnded(@Nullable Object context, HoldOutcome outcome, long heldNanos) {
    try {
      to.holdEnded(context, outcome, heldNanos);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void renewal(String name, RenewOutcome outcome, long nanos, double leaseLeft) {
    try {
      to.renewal(name, outcome, nanos, leaseLeft);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void storeRequest(
      String name, StoreOperation operation, RequestOutcome outcome, long nanos) {
    try {
      to.storeRequest(name, operation, outcome, nanos);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void undoStarted(String name) {
    try {
      to.undoStarted(name);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void undoEnded(String name) {
    try {
      to.undoEnded(name);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void eventDropped(LockEvent event) {
    try {
      to.eventDropped(event);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void closed() {
    try {
      to.closed();
    } catch (Throwable e) {
      failed(e);
    }
  }
}
