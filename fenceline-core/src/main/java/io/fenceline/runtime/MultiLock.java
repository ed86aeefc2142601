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
import java.util.function.Function;
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
    return new Taking<MultiHold>(
            lock -> {
              Duration left = maxWait.minusNanos(engine.time.nanos() - start);
              return lock.acquireAsync(left.isNegative() ? Duration.ZERO : left);
            })
        .start();
  }

  @Override
  public CompletableFuture<Optional<MultiHold>> tryAcquireAsync() {
    return new Taking<Optional<MultiHold>>(FencedLock::tryAcquireAsync).start();
  }

  /**
   * One go at all the locks: takes the next one when it has the last, gives all back on failure.
   *
   * @param <R> a multi-hold, or an optional one where the locks answer with optional holds
   */
  private final class Taking<R> {
    private final Function<FencedLock, CompletableFuture<?>> take;
    private final CompletableFuture<R> result = new CompletableFuture<>();
    private final List<Hold> taken = new ArrayList<>();
    private volatile @Nullable CompletableFuture<?> current;

    Taking(Function<FencedLock, CompletableFuture<?>> take) {
      this.take = take;
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

    /** Takes one after another; a loop for those that are there at once, however many they are. */
    private void takeAll() {
      while (taken.size() < locks.size() && !result.isDone()) {
        CompletableFuture<?> asked = take.apply(locks.get(taken.size()));
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
      if (result.isDone() || !deliver(new MultiHandle(engine, taken))) {
        giveBack();
      }
    }

    private @Nullable Object answerOf(CompletableFuture<?> done) {
      return done.isCompletedExceptionally() ? null : done.join();
    }

    private @Nullable Throwable failureOf(CompletableFuture<?> done) {
      return done.handle((answer, failure) -> Optional.ofNullable(failure)).join().orElse(null);
    }

    /** Notes a hold; anything else ends the go. */
    private boolean took(@Nullable Object answer, @Nullable Throwable failure) {
      Object held = answer instanceof Optional<?> optional ? optional.orElse(null) : answer;
      if (held instanceof Hold hold) {
        taken.add(hold);
        return true;
      }
      giveBack();
      if (failure == null) {
        deliverNothing();
      } else {
        result.completeExceptionally(Futures.unwrapped(failure));
      }
      return false;
    }

    @SuppressWarnings("unchecked") // Which of the two it is, the take function decides.
    private boolean deliver(MultiHandle all) {
      boolean optional = current != null && answerOf(current) instanceof Optional<?>;
      return result.complete((R) (optional ? Optional.of(all) : all));
    }

    @SuppressWarnings("unchecked") // Only an optional answer can be empty.
    private void deliverNothing() {
      result.complete((R) Optional.empty());
    }

    private void giveBack() {
      for (int i = taken.size() - 1; i >= 0; i--) {
        CompletableFuture<?> unused = taken.get(i).releaseAsync();
      }
    }
  }
}
