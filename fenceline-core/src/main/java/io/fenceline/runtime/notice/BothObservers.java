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

/** Two observers as one; each gets the context that it made. */
public final class BothObservers implements LockObserver {
  private record Contexts(@Nullable Object first, @Nullable Object second) {}

  private final LockObserver first;
  private final LockObserver second;

  public BothObservers(LockObserver first, LockObserver second) {
    this.first = first;
    this.second = second;
  }

  @Override
  public Object acquireStarted(String name) {
    return new Contexts(first.acquireStarted(name), second.acquireStarted(name));
  }

  private static @Nullable Object first(@Nullable Object context) {
    return context instanceof Contexts contexts ? contexts.first : null;
  }

  private static @Nullable Object second(@Nullable Object context) {
    return context instanceof Contexts contexts ? contexts.second : null;
  }

  @Override
  public void waiting(@Nullable Object context) {
    first.waiting(first(context));
    second.waiting(second(context));
  }

  @Override
  public void contended(@Nullable Object context) {
    first.contended(first(context));
    second.contended(second(context));
  }

  @Override
  public void acquired(
      @Nullable Object context, AcquireOutcome outcome, HoldFacts hold, long waitedNanos) {
    first.acquired(first(context), outcome, hold, waitedNanos);
    second.acquired(second(context), outcome, hold, waitedNanos);
  }

  @Override
  public void notAcquired(
      @Nullable Object context,
      AcquireOutcome outcome,
      long waitedNanos,
      @Nullable Throwable cause) {
    first.notAcquired(first(context), outcome, waitedNanos, cause);
    second.notAcquired(second(context), outcome, waitedNanos, cause);
  }

  @Override
  public void leaked(@Nullable Object context, Leaked event) {
    first.leaked(first(context), event);
    second.leaked(second(context), event);
  }

  @Override
  public void lost(@Nullable Object context, Lost event) {
    first.lost(first(context), event);
    second.lost(second(context), event);
  }

  @Override
  public void holdEnded(@Nullable Object context, HoldOutcome outcome, long heldNanos) {
    first.holdEnded(first(context), outcome, heldNanos);
    second.holdEnded(second(context), outcome, heldNanos);
  }

  @Override
  public void renewal(String name, RenewOutcome outcome, long nanos, double leaseLeft) {
    first.renewal(name, outcome, nanos, leaseLeft);
    second.renewal(name, outcome, nanos, leaseLeft);
  }

  @Override
  public void storeRequest(
      String name, StoreOperation operation, RequestOutcome outcome, long nanos) {
    first.storeRequest(name, operation, outcome, nanos);
    second.storeRequest(name, operation, outcome, nanos);
  }

  @Override
  public void undoStarted(String name) {
    first.undoStarted(name);
    second.undoStarted(name);
  }

  @Override
  public void undoEnded(String name) {
    first.undoEnded(name);
    second.undoEnded(name);
  }

  @Override
  public void eventDropped(LockEvent event) {
    first.eventDropped(event);
    second.eventDropped(event);
  }

  @Override
  public void closed() {
    first.closed();
    second.closed();
  }
}
