package io.fenceline.runtime;

import io.fenceline.ClientClosedException;
import io.fenceline.LockOptions;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.LockEvent;
import io.fenceline.metrics.LockObserver;
import io.fenceline.metrics.ObserverFactory;
import io.fenceline.metrics.RenewOutcome;
import io.fenceline.metrics.RequestOutcome;
import io.fenceline.metrics.StoreOperation;
import io.fenceline.runtime.notice.BothObservers;
import io.fenceline.runtime.notice.GuardedObserver;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The observers of a client, and the flight recorder while there is a recording. Without either,
 * {@link #acquire} and {@link #request} return null, and nothing is reported.
 */
final class Observers {
  private static final Pattern KIND = Pattern.compile("[a-z][a-z0-9-]{0,30}");

  private static final boolean HAS_RECORDER = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

  private final Engine engine;
  private volatile @Nullable LockObserver observer;

  Observers(Engine engine) {
    this.engine = engine;
  }

  synchronized void add(ObserverFactory factory) {
    LockObserver made =
        new GuardedObserver(factory.observe(kindOf(engine.store.description())), engine.events);
    LockObserver before = observer;
    observer = before == null ? made : new BothObservers(before, made);
  }

  /** Whether there may be a recording; each event then knows by itself whether it is wanted. */
  static boolean isRecording() {
    return HAS_RECORDER && FlightRecorder.isInitialized();
  }

  /** The kind of a store: the start of its description, whose rest is an address. */
  static String kindOf(String description) {
    String address = description.startsWith("jdbc:") ? description.substring(5) : description;
    int end = address.indexOf(':');
    String kind = end < 0 ? address : address.substring(0, end);
    if (kind.equals("rediss") || kind.equals("valkeys")) {
      return kind.substring(0, kind.length() - 1);
    }
    return KIND.matcher(kind).matches() ? kind : "other";
  }

  /**
   * Starts to report an acquire that begins now, on this thread; null if nobody asks for reports.
   *
   * @param blocking whether this thread waits for it
   * @param repeats whether it retries, so that a refused try does not end it
   */
  @Nullable AcquireObservation acquire(
      String name, LockOptions options, boolean blocking, boolean repeats) {
    LockObserver told = observer;
    boolean recorded = isRecording();
    boolean noted = recorded || options.tracesLeaks() || options.warnAfter().isPresent();
    if (told == null && !noted) {
      return null;
    }
    return new AcquireObservation(
        told,
        told == null ? null : told.acquireStarted(name),
        noted ? new AcquireObservation.Notes(name, options, blocking, recorded) : null,
        engine.time.nanos(),
        repeats);
  }

  /** Starts to report a request that is sent now; null if nobody asks for reports. */
  @Nullable RequestObservation request(StoreOperation operation, String name) {
    LockObserver told = observer;
    boolean recorded = isRecording();
    if (recorded) {
      return new RequestObservation.Recorded(this, operation, name, engine.time.nanos());
    }
    return told == null ? null : new RequestObservation(this, operation, name, engine.time.nanos());
  }

  /** Reports a request when the future of its answer is complete. */
  void sent(@Nullable RequestObservation request, CompletableFuture<?> answer) {
    if (request == null) {
      return;
    }
    if (answer.isDone() && !answer.isCompletedExceptionally()) {
      request.end(RequestOutcome.ANSWERED);
    } else {
      answer.whenComplete((value, failure) -> request.end(failure));
    }
  }

  /** As {@link #sent}, for a release: without an object, since nearly every hold sends one. */
  void released(
      @Nullable RequestObservation recorded,
      String name,
      long sentNanos,
      CompletableFuture<?> answer) {
    if (recorded != null) {
      sent(recorded, answer);
    } else if (observer != null) {
      if (answer.isDone() && !answer.isCompletedExceptionally()) {
        requestEnded(StoreOperation.RELEASE, name, RequestOutcome.ANSWERED, sentNanos);
      } else {
        sent(new RequestObservation(this, StoreOperation.RELEASE, name, sentNanos), answer);
      }
    }
  }

  static @Nullable RequestOutcome outcomeOf(@Nullable Throwable failure) {
    Throwable cause = failure == null ? null : Futures.cause(failure);
    if (cause instanceof ClientClosedException) {
      return null; // Says nothing about the store.
    }
    if (cause instanceof StoreUnavailableException) {
      return RequestOutcome.UNAVAILABLE;
    }
    return cause == null ? RequestOutcome.ANSWERED : RequestOutcome.FAILED;
  }

  void requestEnded(StoreOperation operation, String name, RequestOutcome outcome, long sent) {
    LockObserver told = observer;
    if (told != null) {
      told.storeRequest(name, operation, outcome, engine.time.nanos() - sent);
    }
  }

  /** Whether there are observers; for what is computed only for them. */
  boolean areObservers() {
    return observer != null;
  }

  void renewal(String name, RenewOutcome outcome, long sentNanos, double leaseLeft) {
    LockObserver told = observer;
    if (told != null) {
      told.renewal(name, outcome, engine.time.nanos() - sentNanos, leaseLeft);
    }
  }

  void renewalFailed(String name, RuntimeException cause, long sentNanos) {
    LockObserver told = observer;
    if (told != null && !(cause instanceof ClientClosedException)) {
      told.renewal(name, RenewOutcome.FAILED, engine.time.nanos() - sentNanos, Double.NaN);
    }
  }

  /** Reports an undo; returns who was told, to be told of its end. */
  @Nullable LockObserver undoStarted(String name) {
    LockObserver told = observer;
    if (told != null) {
      told.undoStarted(name);
    }
    return told;
  }

  void dropped(LockEvent event) {
    LockObserver told = observer;
    if (told != null) {
      told.eventDropped(event);
    }
  }

  void closed() {
    LockObserver told = observer;
    if (told != null) {
      told.closed();
    }
  }
}
