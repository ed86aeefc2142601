package io.fenceline.runtime;

import io.fenceline.metrics.RequestOutcome;
import io.fenceline.metrics.StoreOperation;
import org.jspecify.annotations.Nullable;

/** Reports one request to the store, with its first answer. */
class RequestObservation {
  private final StoreOperation operation;
  private final String name;
  private final long sentNanos;

  /** Guarded by this; null once it has ended. */
  private @Nullable Observers watchers;

  RequestObservation(Observers watchers, StoreOperation operation, String name, long sentNanos) {
    this.watchers = watchers;
    this.operation = operation;
    this.name = name;
    this.sentNanos = sentNanos;
  }

  final void end(@Nullable Throwable failure) {
    RequestOutcome outcome = Observers.outcomeOf(failure);
    if (outcome != null) {
      end(outcome);
    }
  }

  /** Ends it with the first answer or the timeout; later answers are not counted. */
  final void end(RequestOutcome outcome) {
    Observers told;
    synchronized (this) {
      told = watchers;
      watchers = null;
    }
    if (told != null) {
      told.requestEnded(operation, name, outcome, sentNanos);
      ended(outcome);
    }
  }

  /** Called once. */
  void ended(RequestOutcome outcome) {}

  /** One with a flight event: a class of its own, so that others have no field for that. */
  static final class Recorded extends RequestObservation {
    private final FlightEvents.StoreRequest flight;

    Recorded(Observers watchers, StoreOperation operation, String name, long sentNanos) {
      super(watchers, operation, name, sentNanos);
      flight = new FlightEvents.StoreRequest(name, operation.tag());
      flight.begin();
    }

    @Override
    void ended(RequestOutcome outcome) {
      if (flight.shouldCommit()) {
        flight.outcome = outcome.tag();
        flight.commit();
      }
    }
  }
}
