package io.fenceline.runtime;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.FencedLock;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.MultiHold;
import io.fenceline.spi.Durations;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several locks, all or none.
 *
 * <p>They are taken in the byte order of their names, one after another. Whoever waits for a name
 * holds only smaller ones, so no circle of waiters can close.
 */
final class MultiLock extends AbstractAcquirable<MultiHold> {
  private final List<FencedLock> locks;

  MultiLock(Engine engine, List<FencedLock> locks, LockOptions options) {
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
    return locks.stream().map(FencedLock::name).collect(Collectors.joining(", "));
  }

  @Override
  @MustBeClosed
  public MultiHold acquire(Duration maxWait) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return Futures.awaitInterruptibly(engine.time, acquireAsync(maxWait));
  }

  @Override
  public CompletableFuture<MultiHold> acquireAsync(Duration maxWait) {
    Durations.checkNotNegative("maxWait", maxWait);
    long start = engine.time.nanos();
    CompletableFuture<MultiHold> result = new CompletableFuture<>();
    new Taking(
            result::isDone,
            lock -> {
              Duration left = maxWait.minusNanos(engine.time.nanos() - start);
              return optional(lock.acquireAsync(left.isNegative() ? Duration.ZERO : left));
            },
            held -> held.isPresent() && result.complete(held.get()),
            result::completeExceptionally)
        .startFor(result);
    return result;
  }

  @Override
  public CompletableFuture<Optional<MultiHold>> tryAcquireAsync() {
    CompletableFuture<Optional<MultiHold>> result = new CompletableFuture<>();
    new Taking(
            result::isDone,
            FencedLock::tryAcquireAsync,
            result::complete,
            result::completeExceptionally)
        .startFor(result);
    return result;
  }

  /** The same as an optional; cancelling it cancels what it came from. */
  private static CompletableFuture<Optional<Hold>> optional(CompletableFuture<Hold> acquiring) {
    CompletableFuture<Optional<Hold>> result = acquiring.thenApply(Optional::of);
    result.whenComplete(
        (hold, failure) -> {
          if (result.isCancelled()) {
            acquiring.cancel(false);
          }
        });
    return result;
  }

  /**
   * One go at all the locks: takes the next one when it has the last, gives all back on failure.
   */
  private final class Taking {
    private final BooleanSupplier abandoned;
    private final Function<FencedLock, CompletableFuture<Optional<Hold>>> take;
    private final Predicate<Optional<MultiHold>> deliver;
    private final Consumer<Throwable> fail;
    private final List<Hold> taken = new ArrayList<>();
    private volatile @Nullable CompletableFuture<Optional<Hold>> current;

    Taking(
        BooleanSupplier abandoned,
        Function<FencedLock, CompletableFuture<Optional<Hold>>> take,
        Predicate<Optional<MultiHold>> deliver,
        Consumer<Throwable> fail) {
      this.abandoned = abandoned;
      this.take = take;
      this.deliver = deliver;
      this.fail = fail;
    }

    void startFor(CompletableFuture<?> result) {
      result.whenComplete(
          (value, failure) -> {
            CompletableFuture<?> waiting = current;
            if (result.isCancelled() && waiting != null) {
              waiting.cancel(false);
            }
          });
      next();
    }

    private void next() {
      if (abandoned.getAsBoolean()) {
        giveBack();
        return;
      }
      if (taken.size() == locks.size()) {
        MultiHandle all = new MultiHandle(taken);
        if (!deliver.test(Optional.of(all))) {
          giveBack();
        }
        return;
      }
      CompletableFuture<Optional<Hold>> asked;
      try {
        asked = take.apply(locks.get(taken.size()));
      } catch (RuntimeException e) {
        giveBack();
        fail.accept(e);
        return;
      }
      current = asked;
      if (abandoned.getAsBoolean()) {
        asked.cancel(false);
      }
      asked.whenComplete(this::answered);
    }

    private void answered(@Nullable Optional<Hold> hold, @Nullable Throwable failure) {
      if (hold != null && hold.isPresent()) {
        taken.add(hold.get());
        next();
        return;
      }
      giveBack();
      if (failure != null) {
        fail.accept(Futures.unwrapped(failure));
      } else {
        boolean unused = deliver.test(Optional.empty());
      }
    }

    private void giveBack() {
      for (int i = taken.size() - 1; i >= 0; i--) {
        CompletableFuture<?> unused = taken.get(i).releaseAsync();
      }
    }
  }
}
