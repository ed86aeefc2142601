package io.fenceline.runtime;

import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.MultiHold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.Lost;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Several holds as one. */
final class MultiHandle implements MultiHold, LossSource {
  private final Engine engine;
  private final List<LockHandle> holds;
  private volatile @Nullable LossInterrupt interrupt;

  MultiHandle(Engine engine, List<LockHandle> holds) {
    this.engine = engine;
    this.holds = List.copyOf(holds);
  }

  /** Makes the first loss interrupt; at once if there was one already. */
  void interruptOnLoss(LossInterrupt with) {
    interrupt = with;
    holds.forEach(hold -> hold.callerHold.interruptOnLoss(with));
  }

  @Override
  public List<Hold> holds() {
    return List.copyOf(holds);
  }

  @Override
  public Hold hold(String name) {
    return holds.stream()
        .map(Hold.class::cast)
        .filter(hold -> hold.name().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("Lock '" + name + "' is not among " + holds));
  }

  @Override
  public boolean isValid() {
    return holds.stream().allMatch(Hold::isValid);
  }

  @Override
  public Duration remaining() {
    return holds.stream().map(Hold::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
  }

  @Override
  public void ensure(Duration duration) throws InterruptedException {
    Durations.checkNotNegative("duration", duration);
    // All at once: one after another, the first might be too short when the last is renewed.
    List<CompletableFuture<?>> renewals = new ArrayList<>();
    for (LockHandle hold : holds) {
      CompletableFuture<?> renewal = hold.renewedFor(duration);
      if (renewal != null) {
        renewals.add(renewal);
      }
    }
    Futures.awaitInterruptibly(
        engine.time, CompletableFuture.allOf(renewals.toArray(CompletableFuture[]::new)));
    for (LockHandle hold : holds) {
      hold.checkLeft(duration);
    }
  }

  @Override
  public ReleaseOutcome release() {
    return Futures.await(engine.time, end());
  }

  @Override
  public CompletableFuture<ReleaseOutcome> releaseAsync() {
    return engine.forUser(end());
  }

  private CompletableFuture<ReleaseOutcome> end() {
    LossInterrupt armed = interrupt;
    if (armed != null) {
      armed.cancel(); // A loss during the release interrupts nobody any more.
    }
    List<CompletableFuture<ReleaseOutcome>> answers = new ArrayList<>();
    for (int i = holds.size() - 1; i >= 0; i--) {
      answers.add(holds.get(i).end());
    }
    return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .thenApply(all -> worst(answers.stream().map(CompletableFuture::join).toList()));
  }

  @Override
  public void abandon() {
    for (int i = holds.size() - 1; i >= 0; i--) {
      holds.get(i).abandon();
    }
  }

  /** A loss outweighs an unknown outcome, which outweighs a release. */
  private static ReleaseOutcome worst(List<ReleaseOutcome> outcomes) {
    if (outcomes.contains(ReleaseOutcome.ALREADY_LOST)) {
      return ReleaseOutcome.ALREADY_LOST;
    }
    return outcomes.contains(ReleaseOutcome.UNKNOWN)
        ? ReleaseOutcome.UNKNOWN
        : ReleaseOutcome.RELEASED;
  }

  @Override
  public void releaseOrThrow() {
    ReleaseOutcome unused = release();
    for (Hold hold : holds) {
      hold.releaseOrThrow(); // Each gives its first answer again, or throws for it.
    }
  }

  @Override
  public LockLostException lossException() {
    for (LockHandle hold : holds) {
      if (hold.isLost()) {
        return hold.lossException();
      }
    }
    throw new IllegalStateException("None of " + holds + " is lost");
  }

  @Override
  public void onLost(Consumer<? super Lost> listener) {
    Objects.requireNonNull(listener, "listener");
    AtomicBoolean told = new AtomicBoolean();
    for (Hold hold : holds) {
      hold.onLost(
          lost -> {
            if (told.compareAndSet(false, true)) {
              listener.accept(lost);
            }
          });
    }
  }

  @Override
  public CompletableFuture<Lost> lost() {
    CompletableFuture<Lost> first = new LostFuture(this);
    onLost(first::complete);
    return first;
  }

  @Override
  public void close() {
    ReleaseOutcome unused = release();
  }

  @Override
  public String toString() {
    return holds.toString();
  }
}
