package io.fenceline.runtime;

import io.fenceline.metrics.RequestOutcome;
import io.fenceline.metrics.StoreOperation;
import org.jspecify.annotations.Nullable;

/** What is noted of one request to the store, until its first answer. */
final class RequestObservation {
  private final Observers watchers;
  private final StoreOperation operation;
  private final String name;
  private final long sentNanos;
  private final FlightEvents.@Nullable StoreRequest flight;
  private boolean ended;

  RequestObservation(
      Observers watchers, StoreOperation operation, String name, long sentNanos, boolean recorded) {
    this.watchers = watchers;
    this.operation = operation;
    this.name = name;
    this.sentNanos = sentNanos;
    if (recorded) {
      flight = new FlightEvents.StoreRequest(name, operation.tag());
      flight.begin();
    } else {
      flight = null;
    }
  }

  void end(@Nullable Throwable failure) {
    RequestOutcome outcome = Observers.outcomeOf(failure);
    if (outcome != null) {
      end(outcome);
    }
  }

  /** The first answer, or the end of the patience with it; what comes later is not counted. */
  void end(RequestOutcome outcome) {
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
    }
    watchers.requestEnded(operation, name, outcome, sentNanos);
    if (flight != null && flight.shouldCommit()) {
      flight.outcome = outcome.tag();
      flight.commit();
    }
  }
}
