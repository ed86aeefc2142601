package io.fenceline.runtime;

import io.fenceline.FencelineException;
import io.fenceline.metrics.StoreOperation;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim that was sent to the store for a queue, and what has been heard of it.
 *
 * <p>Its request may be sent again, by the same owner, for as long as it is the queue's claim; once
 * the queue has dropped it, its owner is dead, and a grant that still comes is undone.
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
  private volatile long takenNumber;
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
            engine.newOwner(),
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
   * @param caller who waits for the answer on this very thread; null if nobody does
   */
  void send(@Nullable Waiter caller) {
    Engine engine = queue.engine;
    RequestObservation sent = engine.watchers.request(StoreOperation.CLAIM, request.name());
    if (sent != null) {
      watch = sent;
    }
    try {
      if (caller == null || !caller.outlasts(engine.operationNanos())) {
        engine.store.claim(request, this);
      } else {
        engine.store.claimHere(request, caller.isInterruptible(), this);
      }
    } catch (FencelineException e) {
      failed(e);
    } catch (Throwable e) {
      queue.broken(this, e);
    }
  }

  /** The store has answered, or patience with it is over: the first of them ends the request. */
  void answered(@Nullable Throwable failure) {
    RequestObservation sent = watch;
    if (sent != null) {
      watch = null;
      sent.end(failure);
    }
  }

  /** Its grant has become a grant. */
  void taken(long number) {
    takenNumber = number;
  }

  /**
   * Whether the store has to be cleaned of what an answer, that nobody wants any more, speaks of.
   *
   * <p>If the claim never became a grant, always. If it did, the answer may be an old one about the
   * very grant that was held; with a lock-delay nothing may be sent about that one after its lease,
   * since the name would open before the delay is over. A new number is a new grant: the claim was
   * overtaken by its own release.
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
      Steps steps = new Steps();
      waiting.forEach(steps::then);
      steps.run();
    }
  }

  /**
   * Undoes what an answer speaks of, once the grant is not being given back any more. A withdrawal
   * that overtakes the release would end the grant first: the name would not be kept closed, and
   * the release would hear that it came too late.
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

  /** Who stands in the way, once the store has said so. */
  @Nullable Obstacle obstacle() {
    return obstacle;
  }

  /**
   * Whether something of it may be at the store though the store has refused it: it waited there
   * before, or was not answered, or the server's own error says why it was refused, perhaps
   * half-way. A refusal without such a cause is an answer of ours, and nothing was done.
   */
  boolean mayHaveLeftSomething(RuntimeException refusal) {
    return obstacle != null || failures > 0 || refusal.getCause() != null;
  }

  /** Why the store is not heard of; null while it answers. */
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

  /** Whether the store has said that its grant is gone, be it before the grant was heard of. */
  boolean isGone() {
    return gone;
  }

  // What the store answers, on any thread. If something goes wrong in here (no memory is left, or
  // the store's stack was deep already), the store can't put it right, and may not even notice.

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
