package io.fenceline.runtime;

import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.event.HeldTooLong;
import io.fenceline.event.Leaked;
import io.fenceline.event.Lost;
import io.fenceline.metrics.AcquireOutcome;
import io.fenceline.metrics.HoldOutcome;
import io.fenceline.metrics.LockObserver;
import io.fenceline.time.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Reports one acquire, and the hold that it leads to, to observers, to the flight recorder, and as
 * the warnings that the options ask for. There is none if nobody asks for reports.
 */
final class AcquireObservation {
  /*
   * What would break it, and why it can't:
   *
   * - An end that is reported before the beginning: a holder may release before the thread that
   *   brought the grant has reported it. Whoever reports an end reports the beginning first, and only
   *   the first report of each counts.
   * - A wait that is reported after its end, and then never ends: it is only reported while the
   *   acquire is undecided, under this monitor.
   * - A warning about a hold that has ended: the timer asks the hold, and the end cancels the timer.
   *
   * This monitor is the last one: nothing that takes another is called under it, except timers and
   * observers, which don't call the client.
   */

  private enum State {
    ASKING,
    HELD,
    ENDED
  }

  private final @Nullable LockObserver observer;
  private final @Nullable Object context;
  private final @Nullable Notes notes;
  private final long sinceNanos;
  private final boolean repeats;

  // Guarded by this.
  private State state = State.ASKING;
  private boolean waiting;
  private boolean contended;
  private boolean leaked;

  AcquireObservation(
      @Nullable LockObserver observer,
      @Nullable Object context,
      @Nullable Notes notes,
      long sinceNanos,
      boolean repeats) {
    this.observer = observer;
    this.context = context;
    this.notes = notes;
    this.sinceNanos = sinceNanos;
    this.repeats = repeats;
  }

  /** What only some acquires need: a stack trace, a warning, a flight recording. */
  static final class Notes {
    private final String name;
    private final Thread caller;
    private final @Nullable Throwable trace;
    private final @Nullable Duration warnAfter;
    private final boolean blocking;
    private FlightEvents.@Nullable Acquire acquire;
    private FlightEvents.@Nullable Hold hold;
    private Time.@Nullable Timer warning;
    private boolean returned;

    Notes(String name, LockOptions options, boolean blocking, boolean recorded) {
      this.name = name;
      this.caller = Thread.currentThread();
      this.blocking = blocking;
      this.warnAfter = options.warnAfter().orElse(null);
      this.trace = options.tracesLeaks() ? new Throwable("the hold was acquired here") : null;
      if (recorded) {
        acquire = new FlightEvents.Acquire(name);
        acquire.begin();
      }
    }

    private void acquireEnded(AcquireOutcome outcome, boolean contended, long token) {
      FlightEvents.Acquire flight = acquire;
      if (flight == null) {
        return;
      }
      flight.end();
      flight.outcome = outcome.tag();
      flight.contended = contended;
      flight.token = token;
      if (!blocking || returned) {
        commitAcquire();
      }
    }

    private void commitAcquire() {
      FlightEvents.Acquire flight = acquire;
      if (flight != null && flight.outcome != null) {
        acquire = null;
        flight.commit();
      }
    }

    private void begin(CallerHold callerHold) {
      Engine engine = callerHold.lifecycle.engine();
      if (Observers.isRecording()) {
        hold = new FlightEvents.Hold(name, callerHold.token, caller);
        hold.begin();
      }
      if (warnAfter != null) {
        long spent = engine.time.nanos() - callerHold.acquired.nanos();
        warning =
            engine.time.schedule(Math.max(0, warnAfter.toNanos() - spent), () -> warn(callerHold));
      }
    }

    private void warn(CallerHold callerHold) {
      if (!callerHold.isHeld()) {
        return;
      }
      Engine engine = callerHold.lifecycle.engine();
      engine.events.tell(
          new HeldTooLong(
              name,
              callerHold.id(),
              callerHold.token,
              Instant.ofEpochMilli(callerHold.acquired.wallMillis()),
              Duration.ofNanos(engine.time.nanos() - callerHold.acquired.nanos()),
              caller.getName(),
              trace));
    }

    private void end(HoldOutcome outcome) {
      Time.Timer set = warning;
      if (set != null) {
        set.cancel();
      }
      FlightEvents.Hold flight = hold;
      if (flight != null) {
        hold = null;
        flight.outcome = outcome.tag();
        flight.commit();
      }
    }
  }

  /** Returns the stack trace of the acquire; null unless the options ask for it. */
  @Nullable Throwable trace() {
    return notes == null ? null : notes.trace;
  }

  // The acquire. --------------------------------------------------------------------------------

  synchronized void waiting() {
    if (observer != null && state == State.ASKING && !waiting) {
      waiting = true;
      observer.waiting(context);
    }
  }

  synchronized void contended() {
    if (state == State.ASKING && !contended) {
      contended = true;
      if (observer != null) {
        observer.contended(context);
      }
    }
  }

  /** Called on the thread that acquired, so that the flight event shows this thread. */
  void callerReturns() {
    if (notes != null && notes.blocking) {
      synchronized (this) {
        notes.returned = true;
        notes.commitAcquire();
      }
    }
  }

  synchronized void acquired(CallerHold callerHold) {
    if (state != State.ASKING) {
      return;
    }
    state = State.HELD;
    AcquireOutcome outcome =
        callerHold.handOff() == 0 ? AcquireOutcome.GRANTED : AcquireOutcome.HANDED_OFF;
    if (observer != null) {
      // A release that was about to end may have read the clock before this acquire began.
      long waited = Math.max(0, callerHold.acquired.nanos() - sinceNanos);
      observer.acquired(context, outcome, callerHold, waited);
    }
    if (notes != null) {
      notes.acquireEnded(outcome, contended, callerHold.token);
      notes.begin(callerHold);
    }
  }

  /** A waiter got no hold; a caller that retries goes on with the same acquire. */
  void settled(Waiter.@Nullable Outcome outcome, long nowNanos) {
    if (!repeats) {
      Throwable cause = outcome instanceof Waiter.Failure failed ? failed.cause() : null;
      notAcquired(outcomeOf(outcome, cause), cause, nowNanos);
    } else if (outcome instanceof Waiter.Refusal) {
      contended();
    }
  }

  private static AcquireOutcome outcomeOf(
      Waiter.@Nullable Outcome outcome, @Nullable Throwable cause) {
    if (outcome instanceof Waiter.Gone) {
      return AcquireOutcome.INTERRUPTED;
    }
    return outcome instanceof Waiter.Refusal ? AcquireOutcome.REFUSED : outcomeOf(cause);
  }

  private static AcquireOutcome outcomeOf(@Nullable Throwable failure) {
    if (failure instanceof InterruptedException || failure instanceof CancellationException) {
      return AcquireOutcome.INTERRUPTED;
    }
    return failure instanceof LockTimeoutException
        ? AcquireOutcome.TIMED_OUT
        : AcquireOutcome.FAILED;
  }

  /** The caller gets this error instead of a hold. */
  void failed(Throwable cause, long nowNanos) {
    notAcquired(outcomeOf(cause), cause, nowNanos);
  }

  private synchronized void notAcquired(
      AcquireOutcome outcome, @Nullable Throwable cause, long nowNanos) {
    if (state != State.ASKING) {
      return;
    }
    state = State.ENDED;
    if (observer != null) {
      observer.notAcquired(context, outcome, nowNanos - sinceNanos, cause);
    }
    if (notes != null) {
      notes.acquireEnded(outcome, contended || outcome == AcquireOutcome.REFUSED, 0);
    }
  }

  // The hold. -----------------------------------------------------------------------------------

  synchronized void leaked(Leaked event) {
    if (state == State.HELD && !leaked) {
      leaked = true;
      if (observer != null) {
        observer.leaked(context, event);
      }
    }
  }

  synchronized void lost(Lost how, long heldNanos) {
    if (state != State.HELD) {
      return;
    }
    if (observer != null) {
      observer.lost(context, how);
    }
    if (notes != null && notes.hold != null) {
      new FlightEvents.Lost(how.name(), how.token(), how.reason().name()).commit();
    }
    end(leaked ? HoldOutcome.LEAKED : HoldOutcome.LOST, heldNanos);
  }

  synchronized void released(long heldNanos) {
    if (state == State.HELD) {
      end(HoldOutcome.RELEASED, heldNanos);
    }
  }

  private void end(HoldOutcome outcome, long heldNanos) {
    state = State.ENDED;
    if (observer != null) {
      observer.holdEnded(context, outcome, heldNanos);
    }
    if (notes != null) {
      notes.end(outcome);
    }
  }
}
