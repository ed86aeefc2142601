package io.fenceline.spring;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.spring.Locked.InTransaction;
import io.fenceline.spring.Locked.Mode;
import io.fenceline.spring.LockedContext.Frame;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One call under one lock.
 *
 * @param caller whose call it is, for messages
 * @param ownTransaction whether it leaves the caller's transaction aside
 */
record LockedCall(
    Fenceline client,
    String name,
    Mode mode,
    int permits,
    LockOptions options,
    Duration maxWait,
    String caller,
    InTransaction inTransaction,
    boolean ownTransaction) {

  /** The work that is done under the lock. */
  @FunctionalInterface
  interface Body {
    @Nullable Object run(Held held) throws Throwable;
  }

  /** Waits for the lock, runs the work, and releases. What the work throws passes through. */
  @Nullable Object run(Body body) throws InterruptedException {
    Frame outer = LockedContext.current();
    Hold entered = reentered(outer);
    if (entered != null) {
      try (Hold again = entered.reenter()) {
        return within(outer, again, body);
      }
    }
    if (Transactions.isActive() && !ownTransaction) {
      requireAllowed();
      return runToTheEnd(outer, body);
    }
    return run(acquirable(), outer, body);
  }

  private <H extends Held> @Nullable Object run(
      Acquirable<H> lock, @Nullable Frame outer, Body body) throws InterruptedException {
    return lock.<Optional<Object>, RuntimeException>call(
            maxWait, held -> Optional.ofNullable(within(outer, held, body)))
        .orElse(null);
  }

  /** The caller's transaction goes on after this call, and the lock with it. */
  @SuppressWarnings("MustBeClosedChecker") // Released when the transaction has ended.
  private @Nullable Object runToTheEnd(@Nullable Frame outer, Body body)
      throws InterruptedException {
    Held held = acquirable().acquire(maxWait);
    try {
      Transactions.releaseAtTheEnd(client, name, held);
    } catch (RuntimeException e) {
      held.close();
      throw e;
    }
    Object result = within(outer, held, body);
    LockedContext.requireValid(held);
    return result;
  }

  /** As {@link #run}, for work that is done when its stage completes. */
  CompletableFuture<@Nullable Object> runAsync(Body body) {
    Frame outer = LockedContext.current();
    Hold entered = reentered(outer);
    if (entered != null) {
      Hold again = reenter(entered);
      return stage(outer, again, body)
          .toCompletableFuture()
          .whenComplete((result, failure) -> again.close());
    }
    if (Transactions.isActive() && !ownTransaction) {
      requireAllowed();
    }
    return runAsync(acquirable(), outer, body);
  }

  private <H extends Held> CompletableFuture<@Nullable Object> runAsync(
      Acquirable<H> lock, @Nullable Frame outer, Body body) {
    return lock.callAsync(maxWait, held -> stage(outer, held, body));
  }

  @SuppressWarnings("MustBeClosedChecker") // Closed when the stage completes.
  private static Hold reenter(Hold entered) {
    return entered.reenter();
  }

  @SuppressWarnings({"unchecked", "IllegalCatch"})
  private CompletionStage<@Nullable Object> stage(@Nullable Frame outer, Held held, Body body) {
    try {
      Object stage = within(outer, held, body);
      return stage == null
          ? CompletableFuture.completedFuture(null)
          : (CompletionStage<@Nullable Object>) stage;
    } catch (Throwable e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Nullable Object within(@Nullable Frame outer, Held held, Body body) {
    return LockedContext.within(new Frame(client, name, held, outer), () -> body.run(held));
  }

  Acquirable<? extends Held> acquirable() {
    return switch (mode) {
      case EXCLUSIVE -> client.lock(name, options);
      case SHARED -> client.readWriteLock(name, options).readLock();
      case PERMIT -> client.semaphore(name, permits, options);
    };
  }

  /** Fails unless a lock may be taken inside of a transaction. */
  void requireAllowed() {
    if (inTransaction == InTransaction.REFUSE) {
      throw new IllegalStateException(
          ("Lock '%s' was not acquired for %s: a transaction is already running. It would commit after"
                  + " the lock is released, and may read a snapshot that is older than the lock. Lock"
                  + " outside of the transaction, give the method a transaction of its own"
                  + " (REQUIRES_NEW), or accept it with inTransaction = HOLD_TO_THE_END.")
              .formatted(name, caller));
    }
  }

  /** The hold that this call is inside of already; null if it has to be acquired. */
  @Nullable Hold reentered(@Nullable Frame outer) {
    if (mode == Mode.PERMIT) {
      return null;
    }
    Hold hold = Frame.find(outer, client, name);
    if (hold == null) {
      hold = Transactions.find(client, name);
    }
    if (hold != null && mode == Mode.EXCLUSIVE && !hold.fencingToken().exclusive()) {
      throw new IllegalStateException(
          ("Lock '%s' is held shared where %s wants it exclusively, and would wait for itself. Take it"
                  + " exclusively from the start.")
              .formatted(name, caller));
    }
    return hold;
  }
}
