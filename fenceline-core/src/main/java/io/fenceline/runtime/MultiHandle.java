package io.fenceline.runtime;

import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.MultiHold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.Lost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Several holds as one. */
final class MultiHandle implements MultiHold, LossSource {
  private final Engine engine;
  private final List<Hold> holds;

  MultiHandle(Engine engine, List<Hold> holds) {
    this.engine = engine;
    this.holds = List.copyOf(holds);
  }

  @Override
  public List<Hold> holds() {
    return holds;
  }

  @Override
  public Hold hold(String name) {
    return holds.stream()
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
    for (Hold hold : holds) {
      hold.ensure(duration);
    }
  }

  @Override
  public ReleaseOutcome release() {
    return Futures.await(engine.time, releaseAsync());
  }

  @Override
  public CompletableFuture<ReleaseOutcome> releaseAsync() {
    List<CompletableFuture<ReleaseOutcome>> answers = new ArrayList<>();
    for (int i = holds.size() - 1; i >= 0; i--) {
      answers.add(holds.get(i).releaseAsync());
    }
    return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .thenApply(all -> worst(answers.stream().map(CompletableFuture::join).toList()));
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
    for (Hold hold : holds) {
      if (hold.release() == ReleaseOutcome.ALREADY_LOST && hold instanceof LossSource source) {
        return source.lossException();
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
    CompletableFuture<Lost> first = new CompletableFuture<>();
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
