package io.fenceline.runtime;

import io.fenceline.FencelineException;
import io.fenceline.metrics.StoreOperation;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim that a queue has sent to the store, and the answers to it.
 *
 * <p>While it is the queue's claim, its request may be sent again with the same owner. Once the
 * queue has dropped it, its owner is never used again, and a grant that still comes is undone.
 */
final class RemoteClaim implements ClaimHandler {
  private static final int DOUBLINGS = 4;

  final ClaimRequest request;
  final GrantTerms terms;
  private final ClaimQueue queue;
  private byte failures;
  private volatile boolean gone;
  private volatile @Nullable Obstacle obstacle;
  private volatile @Nullable RuntimeException lastFailure;

  /** The number of its grant on which a hold has begun; 0 if none has. Written by the queue. */
  volatile long takenNumber;

  private volatile @Nullable RequestObservation watch;

  // Guarded by this.
  private int releases;
  private @Nullable List<Runnable> undos;

  RemoteClaim(ClaimQueue queue, Engine engine, String name, Waiter waiter) {
    this.queue = queue;
    this.terms = waiter.terms;
    this.request =
        new ClaimRequest(
            name,
            Owner.draw(engine.random),
            terms.mode(),
            terms.lease(),
            terms.delay(),
            waiter.queues,
            !terms.autoRenewal());
  }

  boolean serves(Waiter waiter) {
    return waiter.queues == request.waits() && waiter.terms.match(terms);
  }

  void send() {
    send(null);
  }

  /**
   * Sends it.
   *
   * @param caller the waiter that waits for the answer on this thread; null if none does
   */
  void send(@Nullable Waiter caller) {
    Engine engine = queue.engine;
    RequestObservation sent = engine.watchers.request(StoreOperation.CLAIM, request.name());
    if (sent != null) {
      watch = sent;
    }
    try {
      if (caller == null || caller.limitNanos < engine.operationNanos) {
        engine.store.claim(request, this);
      } else {
        engine.store.claimHere(request, caller.interruptible, this);
      }
    } catch (FencelineException e) {
      failed(e);
    } catch (Throwable e) {
      queue.broken(this, e);
    }
  }

  /** The store has answered, or the time for that is over: whatever is first ends the request. */
  void answered(@Nullable Throwable failure) {
    RequestObservation sent = watch;
    if (sent != null) {
      watch = null;
      sent.end(failure);
    }
  }

  /**
   * Whether an answer that nobody wants any more has to be undone at the store.
   *
   * <p>If this claim was never held, always. If it was, the answer may be an old one about the
   * grant that was held. With a lock-delay nothing may be sent about that grant after its lease,
   * since the name would open before the delay is over. A new number is a new grant: a repeat of
   * the claim arrived after the release.
   */
  boolean mustUndo(long number) {
    return takenNumber == 0 || terms.delay().isZero() || (number != 0 && number != takenNumber);
  }

  /** Its grant is being given back, until {@link #releaseEnds}. */
  synchronized void releaseBegins() {
    releases++;
  }

  /** The release was answered, or is not sent any more. */
  void releaseEnds() {
    List<Runnable> waiting;
    synchronized (this) {
      releases--;
      waiting = releases == 0 ? undos : null;
      undos = releases == 0 ? null : undos;
    }
    if (waiting != null) {
      RunAll steps = new RunAll();
      waiting.forEach(steps::then);
      steps.run();
    }
  }

  /**
   * Runs an undo, but not while the grant is being released. A withdrawal that overtakes the
   * release would end the grant first: the name would not be kept closed, and the release would be
   * answered with GONE.
   */
  void undo(Runnable undo) {
    synchronized (this) {
      if (releases > 0) {
        if (undos == null) {
          undos = new ArrayList<>(1);
        }
        undos.add(undo);
        return;
      }
    }
    undo.run();
  }

  /** Who stands in the way; null until the store has said so. */
  @Nullable Obstacle obstacle() {
    return obstacle;
  }

  /**
   * Whether something of it may be left at the store though the store has refused it: it was queued
   * there before, or an earlier request was not answered, or the refusal comes from an error of the
   * server, perhaps half-way through. A refusal without such a cause was decided before the server
   * did anything.
   */
  boolean mayHaveLeftSomething(RuntimeException refusal) {
    return obstacle != null || failures > 0 || refusal.getCause() != null;
  }

  /** Why the store does not answer; null while it does. */
  @Nullable RuntimeException lastFailure() {
    return lastFailure;
  }

  /** How long to wait before the next sending: doubling, with jitter, from 50 ms to 1 s. */
  long backoffNanos() {
    long base = 50_000_000L << failures;
    if (failures < DOUBLINGS) {
      failures++;
    }
    return base + (long) (queue.engine.random.nextDouble() * base / 4);
  }

  /** Whether the store has said that its grant is gone, perhaps before the grant arrived. */
  boolean isGone() {
    return gone;
  }

  // What the store answers, on any thread. If something is thrown in here (no memory is left, or
  // the stack was deep already), the store can't put it right, and may not even notice.

  @Override
  public void granted(Grant grant) {
    answered(null);
    try {
      queue.granted(this, grant);
    } catch (Throwable e) {
      queue.broken(this, e);
    }
  }

  @Override
  public void waiting(Obstacle found) {
    answered(null);
    boolean first = obstacle == null;
    obstacle = found;
    lastFailure = null;
    try {
      queue.contended(this, found, first);
    } catch (Throwable e) {
      queue.broken(this, e);
    }
  }

  @Override
  public void refused(Obstacle found) {
    answered(null);
    obstacle = found;
    try {
      queue.refused(this, found);
    } catch (Throwable e) {
      queue.broken(this, e);
    }
  }

  @Override
  public void failed(RuntimeException cause) {
    answered(cause);
    lastFailure = cause;
    try {
      queue.failed(this, cause);
    } catch (Throwable e) {
      queue.broken(this, e);
    }
  }

  @Override
  public void gone() {
    gone = true;
    queue.gone(this);
  }
}
