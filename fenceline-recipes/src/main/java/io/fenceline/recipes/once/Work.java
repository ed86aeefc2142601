package io.fenceline.recipes.once;

import io.fenceline.FencingToken;
import io.fenceline.LimitExceededException;
import io.fenceline.LockLostException;
import io.fenceline.event.Lost;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** What a worker knows of its work. */
public interface Work {

  /** Returns the key, to be sent along as the idempotency key of whoever has the effect. */
  String key();

  /** Larger than the token of every earlier worker of this key. */
  long token();

  /** Returns the token, as a fence takes it. */
  FencingToken fencingToken();

  /** 1 for the first worker, 2 for the one after a worker that vanished, and so on. */
  int attempt();

  /** Returns whether the lease of the worker's lock still runs, by the local clocks. */
  boolean isValid();

  /** Returns how long that lease runs if it is not renewed; zero when the lock is lost. */
  Duration remaining();

  /** Completes when the worker's lock is lost; never completes if the work ends first. */
  CompletableFuture<Lost> lost();

  /**
   * Returns if the worker has its lock for at least that long, renewing it if need be.
   *
   * @throws LockLostException if it is lost
   * @throws LimitExceededException if it is held, but not for that long
   */
  void ensure(Duration duration) throws InterruptedException;

  /**
   * Says that from now on there may be an effect: an exception after this does not free the key,
   * but leaves it as if the worker had vanished. A charge that times out may have happened.
   */
  void effectBegins();
}
