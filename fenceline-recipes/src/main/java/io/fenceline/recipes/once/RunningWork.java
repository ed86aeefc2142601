package io.fenceline.recipes.once;

import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.event.Lost;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** The work of one worker, under its lock. */
final class RunningWork implements Work {
  private final String key;
  private final Hold hold;
  private final int attempt;
  private volatile boolean effectBegun;

  RunningWork(String key, Hold hold, int attempt) {
    this.key = key;
    this.hold = hold;
    this.attempt = attempt;
  }

  @Override
  public String key() {
    return key;
  }

  @Override
  public long token() {
    return hold.token();
  }

  @Override
  public FencingToken fencingToken() {
    return hold.fencingToken();
  }

  @Override
  public int attempt() {
    return attempt;
  }

  @Override
  public boolean isValid() {
    return hold.isValid();
  }

  @Override
  public Duration remaining() {
    return hold.remaining();
  }

  @Override
  public CompletableFuture<Lost> lost() {
    return hold.lost();
  }

  @Override
  public void ensure(Duration duration) throws InterruptedException {
    hold.ensure(duration);
  }

  @Override
  public void effectBegins() {
    effectBegun = true;
  }

  boolean hasEffectBegun() {
    return effectBegun;
  }
}
