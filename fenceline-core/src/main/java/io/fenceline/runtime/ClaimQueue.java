package io.fenceline.runtime;

import io.fenceline.ClientClosedException;
import io.fenceline.LimitExceededException;
import io.fenceline.LockTimeoutException;
import io.fenceline.LossReason;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.TokenOverflowException;
import io.fenceline.event.Contended;
import io.fenceline.event.Refused;
import io.fenceline.event.StoreFailed;
import io.fenceline.event.TimedOut;
import io.fenceline.spi.Durations;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Moment;
import io.fenceline.spi.Obstacle;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The callers of this process that want one name, in order, and what the process has of it.
 *
 * <p>At most one claim is at the store for all of them, and at most one tenure is held. A claim
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
   * - Two tenures at once: a claim is only sent while there is neither tenure nor claim, and a grant
   *   is only taken if it answers the queue's claim of that moment.
   * - A grant that nobody knows of: a grant that is not taken, for whatever reason, is undone; so is
   *   a claim that is dropped, and then once more if it turns out to have been granted, or if what
   *   became of it is not known.
   * - A waiter that is never served: whenever tenure and claim become empty, whoever emptied them
   *   calls advance(), after it has left the monitor.
   * - A hold of a client that is closed: closing passes through this monitor after the client was
   *   marked, and a grant is taken under it only if the client is not marked.
   * - A name that is kept for ever: the last one to leave retires the queue under its monitor, and
   *   whoever finds it retired takes a new one.
   */

  private final Engine engine;
  private final String name;
  private final Runnable whenRetired;

  // Written under this; the tenure is also read without, to notice that its lease is over.
  private final ArrayDeque<Waiter> waiters = new ArrayDeque<>(2);
  private @Nullable RemoteClaim claim;
  private volatile @Nullable Tenure tenure;
  private boolean retired;

  ClaimQueue(Engine engine, String name, Runnable whenRetired) {
    this.engine = engine;
    this.name = name;
    this.whenRetired = whenRetired;
  }

  /**
   * Lets a waiter in.
   *
   * @return false if this queue has retired; take a new one
   */
  boolean enter(Waiter waiter) {
    Tenure held = tenure;
    if (held != null) {
      held.noticeExpiry(waiter.since);
      if (held.isLost()) {
        lost(held); // Whoever noticed the loss before us may not have come this far yet.
      }
    }
    RemoteClaim toSend = null;
    Obstacle refusal = null;
    int waiting;
    synchronized (this) {
      if (retired) {
        return false;
      }
      held = tenure;
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
      toSend.send();
    } else {
      engine.events.tell(() -> new Contended(name, waiting, engine.info.label()));
    }
    return true;
  }

  private void checkRoom() {
    int limit = engine.settings.limits().waitersPerName();
    if (waiters.size() >= limit) {
      throw new LimitExceededException(
          "waitersPerName", limit, "Too many callers of this client wait for lock '" + name + "'.");
    }
  }

  /**
   * Takes a waiter out that gives up: its time is over, or it was cancelled or interrupted. Sends
   * nothing on the calling thread, which may be the timer's.
   */
  void leave(Waiter waiter, Object outcome) {
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
    engine.dropHold();
    waiter.wake(engine);
    if (dropped != null) {
      engine.undoer.undo(dropped.request);
    }
    engine.work(this::advance);
  }

  /** As {@link #leave}, with the error that says why the time was not enough. */
  void timeOut(Waiter waiter) {
    Duration waited = Duration.ofNanos(engine.time.nanos() - waiter.since.nanos());
    RuntimeException error = timeoutError(waiter, waited);
    leave(waiter, error);
    if (waiter.outcome() == error) {
      boolean silent = error instanceof StoreUnavailableException;
      engine.events.tell(() -> new TimedOut(name, waited, silent));
    }
  }

  private RuntimeException timeoutError(Waiter waiter, Duration waited) {
    RemoteClaim asked;
    Tenure held;
    synchronized (this) {
      asked = claim;
      held = tenure;
    }
    Obstacle obstacle = held != null ? held.asObstacle(engine.time.now()) : null;
    RuntimeException failure = asked == null ? null : asked.lastFailure();
    if (obstacle == null && asked != null) {
      obstacle = asked.obstacle();
    }
    // A try that is still here was not answered, even if its claim has just been taken away by the
    // failure that is about to settle it.
    boolean silent = asked != null && held == null && (failure != null || obstacle == null);
    if (silent || !waiter.queues) {
      return new StoreUnavailableException(
          engine.store.description(),
          "Lock '%s' was not acquired within %s: the store gave no answer (waited=%s)"
              .formatted(name, Durations.show(waiter.maxWait), Durations.show(waited)),
          failure);
    }
    Obstacle known = obstacle == null ? Obstacle.UNKNOWN : obstacle;
    return new LockTimeoutException(
        name,
        waiter.maxWait,
        waited,
        known.holder(),
        engine.tokenOf(known.number()),
        known.remaining(),
        engine.store.description());
  }

  /** Sends the next claim if there is one to send; otherwise retires if there is nothing left. */
  private void advance() {
    RemoteClaim toSend;
    synchronized (this) {
      if (tenure != null || claim != null || retired) {
        return;
      }
      Waiter next = waiters.peek();
      if (next == null) {
        retired = true;
        toSend = null;
      } else if (engine.isClosed()) {
        return; // Whoever closes the client empties this queue.
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

  // What the store answers. ---------------------------------------------------------------------

  void granted(RemoteClaim answered, Grant grant) {
    Moment now = engine.time.now();
    Lease lease = Lease.of(grant.validity());
    Waiter taker = null;
    Handle handle = null;
    RuntimeException overflow = null;
    synchronized (this) {
      Tenure held = tenure;
      if (held != null && held.answers(answered)) {
        return; // The same request was sent twice, and this is the other answer.
      }
      if (answered == claim) {
        claim = null;
        if (lease.runsAt(now) && !engine.isClosed()) {
          try {
            long number = engine.tokenNumber(name, grant.number());
            Tenure taken = new Tenure(engine, this, answered, grant, number, lease, now);
            engine.renewer.add(taken);
            while (handle == null && (taker = nextFor(answered)) != null) {
              Handle offered = taken.begin(taker, now);
              if (taker.settle(offered)) {
                handle = offered;
                tenure = taken;
                answered.taken(grant.number());
              }
            }
            if (handle == null) {
              taken.end();
            }
          } catch (TokenOverflowException e) {
            overflow = e;
            taker = waiters.poll();
          }
        }
      }
    }
    if (handle != null && taker != null) {
      taker.wake(engine);
      handle.stay.tellAcquired(now, lease);
      return;
    }
    if (answered.mustUndo(grant.number())) {
      engine.undoer.undo(answered.request);
    }
    if (overflow != null && taker != null) {
      settle(taker, overflow);
    }
    advance();
  }

  /** The next waiter that can use what was claimed; those that have given up are dropped. */
  private @Nullable Waiter nextFor(RemoteClaim granted) {
    Waiter next = waiters.peek();
    while (next != null && next.isSettled()) {
      waiters.poll();
      next = waiters.peek();
    }
    return next == null || !next.terms.match(granted.terms) ? null : waiters.poll();
  }

  /** The claim waits at the store, or waits there again though nobody here wants it any more. */
  void contended(RemoteClaim answered, Obstacle obstacle, boolean first) {
    int waiting;
    synchronized (this) {
      Tenure held = tenure;
      if (held != null && held.answers(answered)) {
        return; // An old answer; the grant has overtaken it.
      }
      waiting = answered == claim ? waiters.size() : 0;
    }
    if (waiting > 0) {
      if (first) {
        engine.events.tell(() -> new Contended(name, waiting, obstacle.holder()));
      }
    } else if (answered.mustUndo(0)) {
      engine.undoer.undo(answered.request);
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
    if (asked != null) {
      Duration roundTrip = Duration.ofNanos(engine.time.nanos() - asked.since.nanos());
      engine.events.tell(() -> new Refused(name, obstacle.holder(), roundTrip));
      settle(asked, new Waiter.Refusal(obstacle));
    }
    advance();
  }

  void failed(RemoteClaim answered, RuntimeException cause) {
    boolean unknown = cause instanceof StoreUnavailableException;
    boolean dropped;
    Waiter asked = null;
    synchronized (this) {
      Tenure held = tenure;
      if (held != null && held.answers(answered)) {
        return; // It was sent twice, and the other one was granted.
      }
      dropped = answered != claim;
      if (!dropped && (!unknown || !answered.request.waits())) {
        claim = null;
        asked = waiters.poll();
      }
    }
    if (dropped) {
      // It may have been sent while it was dropped, and have overtaken what undid it.
      if (unknown && answered.mustUndo(0)) {
        engine.undoer.undo(answered.request);
      }
      return;
    }
    engine.events.tell(() -> new StoreFailed(name, "claim", cause));
    if (unknown && answered.request.waits()) {
      engine.time.schedule(answered.backoffNanos(), () -> engine.work(() -> sendAgain(answered)));
      return;
    }
    if (unknown) {
      engine.undoer.undo(answered.request);
    }
    if (asked != null) {
      settle(asked, cause);
    }
    // Not on this stack: a thousand waiters with the same mistake would each add to it.
    engine.work(this::advance);
  }

  /** The store says by itself that the grant is gone. */
  void gone(RemoteClaim answered) {
    Tenure held = tenure;
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

  private void settle(Waiter waiter, Object outcome) {
    if (waiter.settle(outcome)) {
      engine.dropHold();
      waiter.wake(engine);
    }
  }

  // What the holder does. -----------------------------------------------------------------------

  /** The stay has ended by release: passes the tenure on, or gives it back. */
  CompletableFuture<ReleaseOutcome> released(Tenure from, Stay ended, Moment now) {
    Waiter taker = null;
    Handle next = null;
    synchronized (this) {
      while (next == null && (taker = waiters.peek()) != null) {
        Handle offered = from.handOff(ended, taker, now);
        if (offered == null) {
          break;
        }
        waiters.poll();
        if (taker.settle(offered)) {
          next = offered;
        } else {
          from.takeBack(offered.stay);
        }
      }
      if (next == null) {
        from.end();
        if (tenure == from) { // Lost meanwhile, it may have a successor already.
          tenure = null;
        }
      }
    }
    if (next != null && taker != null) {
      taker.wake(engine);
      next.stay.tellHandedOff(now);
      return ended.released(ReleaseOutcome.RELEASED, now);
    }
    CompletableFuture<ReleaseOutcome> answer = from.sendRelease(ended, now);
    advance();
    return answer;
  }

  /** The tenure was lost; whoever waits has to be claimed for anew. */
  void lost(Tenure gone) {
    synchronized (this) {
      if (tenure != gone) {
        return;
      }
      tenure = null;
    }
    engine.work(this::advance);
  }

  /** Fails whoever waits, and drops the claim; the tenure is the client's to end. */
  void close() {
    List<Waiter> left;
    RemoteClaim dropped;
    synchronized (this) {
      left = new ArrayList<>(waiters);
      waiters.clear();
      dropped = claim;
      claim = null;
    }
    if (dropped != null) {
      engine.undoer.undo(dropped.request);
    }
    for (Waiter waiter : left) {
      settle(waiter, new ClientClosedException(engine.store.description()));
    }
    advance();
  }
}
