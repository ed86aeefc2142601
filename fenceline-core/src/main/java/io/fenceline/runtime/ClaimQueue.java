package io.fenceline.runtime;

import io.fenceline.ClientClosedException;
import io.fenceline.LimitExceededException;
import io.fenceline.LockTimeoutException;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.Contended;
import io.fenceline.event.LossReason;
import io.fenceline.event.Refused;
import io.fenceline.event.StoreFailed;
import io.fenceline.event.TimedOut;
import io.fenceline.settings.Durations;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The callers of this process that want one name, in order, and the claim or grant that the process
 * has of it.
 *
 * <p>At most one claim is at the store for all of them, and at most one grant is held. A claim
 * belongs to the queue, not to the caller that it was sent for: if that one gives up and the next
 * one wants the same terms, the claim keeps its place at the store.
 *
 * <p>Shared and permit claims go to the store one by one: each has a queue of its own, with one
 * caller.
 */
final class ClaimQueue {
  /*
   * What would break it, and why it can't:
   *
   * - Two grants at once: a claim is only sent while there is neither grant nor claim, and a grant
   *   is only taken if it answers the queue's claim of that moment.
   * - A grant that nobody knows of: a grant that is not taken, for whatever reason, is undone. So is
   *   a claim that is dropped, and then once more if it turns out to have been granted, or if its
   *   outcome is unknown.
   * - A waiter that is never served: whenever grant and claim become empty, whoever emptied them
   *   calls advance(), after it has left the monitor.
   * - A hold of a client that is closed: closing passes through this monitor after the client was
   *   marked, and a grant is taken under it only if the client is not marked.
   * - A claim that the store refused for good, after it had queued it, or half-way through: it is
   *   undone like any other, and the caller does not wait for that. If the store refuses the undo as
   *   well, it is not repeated: what is left ends with its lease.
   * - A queue that is kept for ever: the last one to leave retires the queue under its monitor, and
   *   whoever finds it retired takes a new one.
   */

  final Engine engine;
  private final String name;
  private final Runnable whenRetired;

  // Written under this; the grant is also read without, to notice that its lease is over.
  private final ArrayDeque<Waiter> waiters = new ArrayDeque<>(2);
  private @Nullable RemoteClaim claim;
  private volatile @Nullable GrantLifecycle lifecycle;
  private boolean retired;

  ClaimQueue(Engine engine, String name, Runnable whenRetired) {
    this.engine = engine;
    this.name = name;
    this.whenRetired = whenRetired;
  }

  /**
   * Adds a waiter.
   *
   * @return false if this queue has retired; take a new one
   */
  boolean enter(Waiter waiter) {
    GrantLifecycle held = lifecycle;
    if (held != null) {
      held.noticeExpiry(waiter.since);
      if (held.isLost()) {
        lost(held); // Another thread has noticed the loss, but not told this queue yet.
      }
    }
    RemoteClaim toSend = null;
    Obstacle refusal = null;
    int waiting;
    synchronized (this) {
      if (retired) {
        return false;
      }
      held = lifecycle;
      boolean idle = held == null && claim == null && waiters.isEmpty();
      if (!idle && !waiter.queues) {
        refusal = held == null ? Obstacle.UNKNOWN : held.asObstacle(waiter.since);
      } else {
        if (!idle) {
          checkRoom();
        }
        waiters.add(waiter);
        if (idle) {
          toSend = new RemoteClaim(this, engine, name, waiter);
          claim = toSend;
        }
      }
      waiting = waiters.size();
    }
    if (refusal != null) {
      String holder = refusal.holder();
      engine.events.tell(() -> new Refused(name, holder, Duration.ZERO));
      settle(waiter, new Waiter.Refusal(refusal));
    } else if (toSend != null) {
      if (!engine.isClosed()) { // A close drops it, and must not be overtaken.
        toSend.send(waiter.thread == null ? null : waiter);
      }
    } else {
      tellContended(waiter, waiting, engine.info.label());
    }
    return true;
  }

  /** Tells that a caller finds the name taken. */
  private void tellContended(Waiter waiter, int waiting, @Nullable String holder) {
    if (waiter.watched != null) {
      waiter.watched.contended();
    }
    engine.events.tell(() -> new Contended(name, waiting, holder));
    if (waiter.waitsForEver()) {
      SelfWait.warn(engine, name, waiter);
    }
  }

  /** Adds its grant to a list, if it has one of that name. */
  void addGrantOf(String wanted, List<GrantLifecycle> to) {
    GrantLifecycle held = lifecycle;
    if (held != null && name.equals(wanted) && held.isLive()) {
      to.add(held);
    }
  }

  private void checkRoom() {
    int limit = engine.settings.limits().waitersPerName();
    if (waiters.size() >= limit) {
      throw new LimitExceededException(
          "waitersPerName", limit, "Too many callers of this client wait for lock '" + name + "'.");
    }
  }

  /**
   * Removes a waiter that gives up: its time is over, or it was cancelled or interrupted. Sends
   * nothing on the calling thread, which may be the timer's.
   */
  void leave(Waiter waiter, Waiter.Outcome outcome) {
    if (!waiter.settle(outcome)) {
      return;
    }
    RemoteClaim dropped = null;
    synchronized (this) {
      waiters.remove(waiter);
      Waiter next = waiters.peek();
      if (claim != null && (next == null || !claim.serves(next))) {
        dropped = claim;
        claim = null;
      }
    }
    RemoteClaim unwanted = dropped;
    engine.queues.dropHold();
    if (unwanted != null
        && outcome instanceof Waiter.Failure failed
        && failed.cause() instanceof StoreUnavailableException silence) {
      unwanted.answered(silence);
    }
    new RunAll()
        .then(() -> waiter.wake(engine))
        .then(() -> undo(unwanted))
        .then(this::advanceLater)
        .run();
  }

  private void undo(@Nullable RemoteClaim unwanted) {
    if (unwanted != null) {
      unwanted.undo(engine.unknownOutcomes.prepared(unwanted.request));
    }
  }

  /** As {@link #leave}, for a waiter whose time is over: settles it with the error. */
  void timeOut(Waiter waiter) {
    Duration waited = Duration.ofNanos(engine.time.nanos() - waiter.since.nanos());
    RuntimeException error = timeoutError(waiter, waited);
    Waiter.Failure failure = new Waiter.Failure(error);
    leave(waiter, failure);
    if (waiter.outcome() == failure) {
      boolean silent = error instanceof StoreUnavailableException;
      engine.events.tell(() -> new TimedOut(name, waited, silent));
    }
  }

  private RuntimeException timeoutError(Waiter waiter, Duration waited) {
    RemoteClaim asked;
    GrantLifecycle held;
    synchronized (this) {
      asked = claim;
      held = lifecycle;
    }
    Obstacle obstacle = held != null ? held.asObstacle(engine.time.now()) : null;
    RuntimeException failure = asked == null ? null : asked.lastFailure();
    if (obstacle == null && asked != null) {
      obstacle = asked.obstacle();
    }
    // A try that is still in the queue was not answered, even if its claim is gone already, removed
    // by the failure that is about to settle the try.
    boolean silent = asked != null && held == null && (failure != null || obstacle == null);
    if (silent || !waiter.queues) {
      return new StoreUnavailableException(
          engine.store.description(),
          "Lock '%s' was not acquired within %s: %s (waited=%s)"
              .formatted(
                  name, Durations.show(waiter.maxWait), whyNot(failure), Durations.show(waited)),
          failure);
    }
    Obstacle known = obstacle == null ? Obstacle.UNKNOWN : obstacle;
    return new LockTimeoutException(
        name,
        waiter.maxWait,
        waited,
        known.holder(),
        engine.settings.tokenOf(known.number()),
        known.remaining(),
        SelfWait.advice(waiter.terms.mode(), engine.queues.grantsOf(name)),
        engine.store.description());
  }

  /** Why the store gave no answer: it may have said that it can't work now. */
  private static String whyNot(@Nullable RuntimeException failure) {
    if (failure instanceof StoreUnavailableException silence) {
      String said = String.valueOf(silence.getMessage());
      return said.replace(" (store=" + silence.store() + ")", ""); // Our message ends with it, too.
    }
    return "the store gave no answer";
  }

  /** Sends the next claim if there is one to send; otherwise retires if there is nothing left. */
  private void advance() {
    RemoteClaim toSend;
    synchronized (this) {
      if (lifecycle != null || claim != null || retired) {
        return;
      }
      Waiter next = waiters.peek();
      if (next == null) {
        retired = true;
        toSend = null;
      } else if (engine.isClosed()) {
        return; // The close empties this queue.
      } else {
        toSend = new RemoteClaim(this, engine, name, next);
        claim = toSend;
      }
    }
    if (toSend == null) {
      whenRetired.run();
    } else {
      toSend.send();
    }
  }

  private void advanceLater() {
    engine.work(this::advance);
  }

  // What the store answers. ---------------------------------------------------------------------

  void granted(RemoteClaim answered, Grant grant) {
    Moment now = engine.time.now();
    LeaseTimes lease = LeaseTimes.of(grant.validity());
    Waiter taker = null;
    Handle handle = null;
    Throwable failure = null;
    Runnable undo = null;
    synchronized (this) {
      GrantLifecycle held = lifecycle;
      if (held != null && held.answers(answered)) {
        return; // The same request was sent twice, and this is the other answer.
      }
      if (answered == claim) {
        claim = null;
        if (lease.runsAt(now) && !answered.isGone() && !engine.isClosed()) {
          GrantLifecycle taken = null;
          try {
            taker = nextFor(answered);
            if (taker != null) {
              long number = engine.settings.tokenNumber(name, grant.number());
              taken = new GrantLifecycle(engine, this, answered, grant, number, lease, now);
            }
            while (taken != null && taker != null && handle == null) {
              handle = taken.begin(taker, now);
              if (handle == null && !taker.isSettled()) {
                break; // Lost already: the waiters need a new claim.
              }
              waiters.poll();
              taker = handle == null ? nextFor(answered) : taker;
            }
          } catch (Throwable e) { // The number fits into no token, or no memory is left.
            failure = e;
            taker = waiters.poll();
          }
          if (handle != null) {
            lifecycle = taken;
            answered.takenNumber = grant.number();
          } else if (taken != null) {
            taken.end();
          }
        }
      }
      if (handle == null && answered.mustUndo(grant.number())) {
        Runnable prepared = engine.unknownOutcomes.prepared(answered.request);
        undo = () -> answered.undo(prepared); // A close after this waits for it.
      }
    }
    if (handle != null && taker != null) {
      taker.wake(engine);
      if (answered.isGone()) {
        handle.callerHold.lifecycle.lose(
            LossReason.GONE); // The store said so before the grant was here.
      }
      return;
    }
    notTaken(undo, taker, failure);
  }

  /** Undoes a grant that nobody took; a failure goes to the waiter that it was meant for. */
  private void notTaken(
      @Nullable Runnable undo, @Nullable Waiter asked, @Nullable Throwable failure) {
    new RunAll()
        .then(undo == null ? () -> {} : undo)
        .then(() -> fail(asked, failure))
        .then(failure == null ? this::advance : this::advanceLater)
        .run();
  }

  /** Returns the next waiter that can use the grant; drops those that have given up. */
  private @Nullable Waiter nextFor(RemoteClaim granted) {
    Waiter next = waiters.peek();
    while (next != null && next.isSettled()) {
      waiters.poll();
      next = waiters.peek();
    }
    return next == null || !next.terms.match(granted.terms) ? null : next;
  }

  /** The claim waits at the store, or waits there again though nobody here wants it any more. */
  void contended(RemoteClaim answered, Obstacle obstacle, boolean first) {
    int waiting;
    Waiter head;
    synchronized (this) {
      GrantLifecycle held = lifecycle;
      if (held != null && held.answers(answered)) {
        return; // An old answer; the grant has overtaken it.
      }
      waiting = answered == claim ? waiters.size() : 0;
      head = waiters.peek();
    }
    if (waiting > 0 && head != null) {
      if (first) {
        tellContended(head, waiting, obstacle.holder());
      } else if (head.watched != null) {
        head.watched.contended(); // Another caller may be the head by now.
      }
    } else if (answered.mustUndo(0)) {
      undo(answered);
    }
  }

  void refused(RemoteClaim answered, Obstacle obstacle) {
    Waiter asked;
    synchronized (this) {
      if (answered != claim) {
        return;
      }
      claim = null;
      asked = waiters.poll();
    }
    try {
      if (asked != null) {
        Duration roundTrip = Duration.ofNanos(engine.time.nanos() - asked.since.nanos());
        engine.events.tell(() -> new Refused(name, obstacle.holder(), roundTrip));
      }
    } finally {
      try {
        settle(asked, new Waiter.Refusal(obstacle));
      } finally {
        advance();
      }
    }
  }

  void failed(RemoteClaim answered, RuntimeException cause) {
    boolean unknown = cause instanceof StoreUnavailableException;
    boolean dropped;
    Waiter asked = null;
    synchronized (this) {
      GrantLifecycle held = lifecycle;
      if (held != null && held.answers(answered)) {
        return; // It was sent twice, and the other request was granted.
      }
      dropped = answered != claim;
      if (!dropped && (!unknown || !answered.request.waits())) {
        claim = null;
        asked = waiters.poll();
      }
    }
    if (dropped) {
      // It may have been sent while it was dropped, and have arrived after its undo.
      if (answered.mustUndo(0)) {
        undo(unknown ? answered : null);
        undoRefused(answered, cause);
      }
      return;
    }
    Waiter told = asked;
    Runnable tell = () -> engine.events.tell(() -> new StoreFailed(name, "claim", cause));
    if (unknown && answered.request.waits()) {
      new RunAll().then(tell).then(() -> sendAgainLater(answered)).run();
      return;
    }
    new RunAll()
        .then(tell)
        .then(() -> undo(unknown ? answered : null))
        .then(() -> undoRefused(answered, cause))
        .then(() -> fail(told, cause))
        // Not on this stack: it would grow with each of a thousand waiters that fail alike.
        .then(this::advanceLater)
        .run();
  }

  private void undoRefused(RemoteClaim refused, RuntimeException cause) {
    if (cause instanceof StoreRefusedException && refused.mayHaveLeftSomething(cause)) {
      if (refused.obstacle() != null) {
        undo(refused); // It has waited there: a session would keep its place.
      } else {
        refused.undo(() -> engine.unknownOutcomes.undoIfAllowed(refused.request));
      }
    }
  }

  private void sendAgainLater(RemoteClaim failed) {
    engine.time.schedule(failed.backoffNanos(), () -> engine.work(() -> sendAgain(failed)));
  }

  /**
   * The store threw something, or the handling of its answer did, so the outcome of the claim is
   * unknown. Only the waiter that it was sent for gets the error; the next one gets a new claim.
   */
  void broken(RemoteClaim sent, Throwable thrown) {
    Waiter asked;
    synchronized (this) {
      GrantLifecycle held = lifecycle;
      if (held != null && held.answers(sent)) {
        return; // It was granted before; if this loses it, its holder is told.
      }
      asked = sent == claim ? waiters.poll() : null;
      claim = sent == claim ? null : claim;
    }
    new RunAll()
        .then(() -> undo(sent.mustUndo(0) ? sent : null))
        .then(
            () ->
                engine.events.tell(() -> new StoreFailed(name, "claim", Futures.unwrapped(thrown))))
        .then(() -> fail(asked, thrown))
        .then(this::advanceLater)
        .run();
  }

  /** The store tells, without being asked, that the grant is gone. */
  void gone(RemoteClaim answered) {
    GrantLifecycle held = lifecycle;
    if (held != null && held.answers(answered)) {
      held.lose(LossReason.GONE);
    }
  }

  private void sendAgain(RemoteClaim failed) {
    synchronized (this) {
      if (failed != claim) {
        return;
      }
    }
    failed.send();
  }

  private void fail(@Nullable Waiter waiter, @Nullable Throwable cause) {
    settle(waiter, cause == null ? null : new Waiter.Failure(cause));
  }

  private void settle(@Nullable Waiter waiter, Waiter.@Nullable Outcome outcome) {
    if (waiter != null && outcome != null && waiter.settle(outcome)) {
      engine.queues.dropHold();
      waiter.wake(engine);
    }
  }

  // What the holder does. -----------------------------------------------------------------------

  /**
   * The hold has ended by release: passes the grant on, or gives it back.
   *
   * <p>A thread that waits for the outcome may make the request itself, but only if nobody waits
   * behind it, who would be claimed for after the answer.
   *
   * @param here whether this thread waits for the outcome
   */
  CompletableFuture<ReleaseOutcome> released(
      GrantLifecycle from, CallerHold ended, Moment now, boolean here) {
    Waiter taker = null;
    Handle next = null;
    boolean alone;
    synchronized (this) {
      while (next == null && (taker = waiters.peek()) != null) {
        next = from.handOff(ended, taker, now);
        if (next == null && !taker.isSettled()) {
          break;
        }
        waiters.poll();
      }
      if (next == null) {
        from.beginRelease();
        if (lifecycle == from) { // Lost meanwhile, it may have a successor already.
          lifecycle = null;
        }
      }
      alone = waiters.isEmpty();
    }
    if (next != null && taker != null) {
      try {
        return ended.released(ReleaseOutcome.RELEASED, now);
      } finally {
        taker.wake(engine);
      }
    }
    try {
      return from.sendRelease(ended, now, here && alone);
    } finally {
      advance();
    }
  }

  /** The grant was lost; the waiters need a new claim. */
  void lost(GrantLifecycle gone) {
    synchronized (this) {
      if (lifecycle != gone) {
        return;
      }
      lifecycle = null;
    }
    advanceLater();
  }

  /** Fails all waiters, and drops the claim; the client ends the grant. */
  void close() {
    List<Waiter> left;
    RemoteClaim dropped;
    synchronized (this) {
      left = new ArrayList<>(waiters);
      waiters.clear();
      dropped = claim;
      claim = null;
    }
    RunAll steps = new RunAll().then(() -> undo(dropped));
    for (Waiter waiter : left) {
      steps.then(() -> fail(waiter, new ClientClosedException(engine.store.description())));
    }
    steps.then(this::advance).run();
  }
}
