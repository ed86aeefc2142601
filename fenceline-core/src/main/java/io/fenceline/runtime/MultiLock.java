package io.fenceline.runtime;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.MultiHold;
import io.fenceline.settings.Durations;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several locks, all or none.
 *
 * <p>They are taken in the byte order of their names, one after another. Whoever waits for a name
 * holds only smaller ones, so there is no deadlock. One that is lost while it waits for the next
 * can't be taken again beside the larger ones: all are given back, and it starts over.
 */
final class MultiLock extends AbstractAcquirable<MultiHold> {
  private final List<NamedLock> locks;

  MultiLock(Engine engine, List<NamedLock> locks, LockOptions options) {
    super(engine, options);
    this.locks = locks;
  }

  /** The names in byte order, each once. */
  static List<String> inOrder(List<String> names) {
    TreeSet<String> sorted =
        new TreeSet<>(
            (a, b) ->
                Arrays.compareUnsigned(
                    a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8)));
    sorted.addAll(names);
    return new ArrayList<>(sorted);
  }

  @Override
  String what() {
    return locks.stream().map(NamedLock::name).collect(Collectors.joining(", "));
  }

  // Blocking: one after another, on the calling thread. -------------------------------------------

  @Override
  @MustBeClosed
  public MultiHold acquire(Duration maxWait) throws InterruptedException {
    Durations.checkNotNegative("maxWait", maxWait);
    long start = engine.time.nanos();
    while (true) {
      List<LockHandle> taken = new ArrayList<>(locks.size());
      try {
        for (NamedLock lock : locks) {
          add((LockHandle) lock.take(left(maxWait, start)), taken);
        }
      } catch (InterruptedException | RuntimeException | Error e) {
        giveBack(taken);
        throw e;
      }
      NamedLock lost = firstLost(taken);
      if (lost == null) {
        return interruptedByLoss(all(taken));
      }
      giveBack(taken);
      if (left(maxWait, start).isZero()) {
        throw lost.outOfTime(maxWait, start);
      }
    }
  }

  @Override
  public Optional<MultiHold> tryAcquire() {
    List<LockHandle> taken = new ArrayList<>(locks.size());
    try {
      for (NamedLock lock : locks) {
        Optional<Hold> held = lock.tryTake();
        if (held.isEmpty()) {
          giveBack(taken);
          return Optional.empty();
        }
        add((LockHandle) held.get(), taken);
      }
    } catch (RuntimeException | Error e) {
      giveBack(taken);
      throw e;
    }
    if (firstLost(taken) != null) {
      giveBack(taken);
      return Optional.empty();
    }
    return Optional.of(interruptedByLoss(all(taken)));
  }

  // Both. ---------------------------------------------------------------------------------------

  /** Adds one; no caller has it before all are there. */
  private static void add(LockHandle held, List<LockHandle> taken) {
    held.callerHold.claimed(false);
    taken.add(held);
  }

  private MultiHandle all(List<LockHandle> taken) {
    taken.forEach(held -> held.callerHold.claimed(true));
    return new MultiHandle(engine, taken);
  }

  /** The first one that was lost while it waited for the others; null if all are there. */
  private @Nullable NamedLock firstLost(List<LockHandle> taken) {
    for (int i = 0; i < taken.size(); i++) {
      if (!taken.get(i).isValid()) {
        return locks.get(i);
      }
    }
    return null;
  }

  private MultiHandle interruptedByLoss(MultiHandle all) {
    if (options.interruptsOnLoss()) {
      all.interruptOnLoss(new LossInterrupt(Thread.currentThread()));
    }
    return all;
  }

  private Duration left(Duration maxWait, long startNanos) {
    Duration left = maxWait.minusNanos(engine.time.nanos() - startNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  private static void giveBack(List<LockHandle> taken) {
    for (int i = taken.size() - 1; i >= 0; i--) {
      taken.get(i).abandon();
    }
  }

  // Asynchronous. -------------------------------------------------------------------------------

  @Override
  public CompletableFuture<MultiHold> acquireAsync(Duration maxWait) {
    Durations.checkNotNegative("maxWait", maxWait);
    long start = engine.time.nanos();
    return forUser(
        new Taking<Hold, MultiHold>(
                lock -> lock.ask(left(maxWait, start)),
                hold -> hold,
                all -> all,
                (lost, taking) -> {
                  if (!left(maxWait, start).isZero()) {
                    return true;
                  }
                  taking.completeExceptionally(lost.outOfTime(maxWait, start));
                  return false;
                })
            .start());
  }

  @Override
  public CompletableFuture<Optional<MultiHold>> tryAcquireAsync() {
    CompletableFuture<Optional<MultiHold>> inner =
        new Taking<Optional<Hold>, Optional<MultiHold>>(
                lock -> lock.askOnce(engine.settings.operationTimeout()),
                held -> held.orElse(null),
                Optional::ofNullable,
                (lost, taking) -> {
                  taking.complete(Optional.empty());
                  return false;
                })
            .start();
    CompletableFuture<Optional<MultiHold>> outer =
        engine.forUser(inner, held -> held.ifPresent(AbstractAcquirable::giveBack));
    outer.whenComplete((held, failure) -> inner.cancel(false));
    return outer;
  }

  /** Decides when one was lost on the way: starts over, or completes the result. */
  private interface WhenLost<R> {
    boolean startsOver(NamedLock lost, CompletableFuture<R> result);
  }

  /**
   * One attempt at all the locks, taken one after another; gives all back on failure.
   *
   * @param <A> what a lock answers with
   * @param <R> the answer for all of them
   */
  private final class Taking<A, R> {
    private final Function<NamedLock, CompletableFuture<A>> asking;
    private final Function<A, @Nullable Hold> reading;
    private final Function<@Nullable MultiHold, R> answering;
    private final WhenLost<R> whenLost;
    private final CompletableFuture<R> result = new CompletableFuture<>();
    private final List<LockHandle> taken = new ArrayList<>();
    private volatile @Nullable CompletableFuture<A> current;

    Taking(
        Function<NamedLock, CompletableFuture<A>> asking,
        Function<A, @Nullable Hold> reading,
        Function<@Nullable MultiHold, R> answering,
        WhenLost<R> whenLost) {
      this.asking = asking;
      this.reading = reading;
      this.answering = answering;
      this.whenLost = whenLost;
    }

    CompletableFuture<R> start() {
      result.whenComplete(
          (value, failure) -> {
            CompletableFuture<?> waiting = current;
            if (waiting != null) {
              waiting.cancel(false);
            }
          });
      takeAll();
      return engine.untilClosed(result);
    }

    /**
     * Takes one after another; loops over those that are granted at once, to keep the stack low.
     */
    private void takeAll() {
      while (!result.isDone() && !hasAll()) {
        CompletableFuture<A> asked = asking.apply(locks.get(taken.size()));
        current = asked;
        if (result.isDone()) {
          asked.cancel(false);
        }
        if (!asked.isDone()) {
          asked.whenComplete(
              (answer, failure) -> {
                if (took(answer, failure)) {
                  takeAll();
                }
              });
          return;
        }
        if (!took(answerOf(asked), failureOf(asked))) {
          return;
        }
      }
      if (result.isDone() || !result.complete(answering.apply(all(taken)))) {
        giveBack(taken);
      }
    }

    /** Whether all are there; if one of them was lost again, none is. */
    private boolean hasAll() {
      if (taken.size() < locks.size()) {
        return false;
      }
      NamedLock lost = firstLost(taken);
      if (lost == null) {
        return true;
      }
      giveBack(taken);
      taken.clear();
      return !whenLost.startsOver(lost, result);
    }

    private @Nullable A answerOf(CompletableFuture<A> done) {
      return done.isCompletedExceptionally() ? null : done.join();
    }

    private @Nullable Throwable failureOf(CompletableFuture<A> done) {
      return done.handle((answer, failure) -> Optional.ofNullable(failure)).join().orElse(null);
    }

    /** Notes a hold; anything else ends the attempt. */
    private boolean took(@Nullable A answer, @Nullable Throwable failure) {
      Hold held = answer == null ? null : reading.apply(answer);
      if (held != null) {
        add((LockHandle) held, taken);
        return true;
      }
      giveBack(taken);
      if (failure == null) {
        result.complete(answering.apply(null));
      } else {
        result.completeExceptionally(Futures.cause(failure));
      }
      return false;
    }
  }
}
